/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

/**
 * What is worth keeping between the tasks of a JVM on one device: the context, the loaded kernels
 * and page-locked buffers. Making them takes 0.15 s, more than many a task. Device memory is not
 * among them: other processes share the device. Handed out by {@link DeviceSessions}.
 */
final class DeviceSession implements AutoCloseable {

  /** Page-locked bytes that stay between tasks. */
  private static final long KEPT_PINNED_BYTES = 1L << 30;

  private final CudaDevice device;
  private final PinnedPool pinned;
  private boolean closed;

  DeviceSession(CudaDriver driver, int ordinal, byte[] image) {
    device = new CudaDevice(driver, ordinal, image);
    pinned = new PinnedPool(driver);
  }

  CudaDevice device() {
    return device;
  }

  PinnedPool pinned() {
    return pinned;
  }

  /** Between tasks: gives back what is too much to keep. */
  void rest() {
    device.bind();
    pinned.trim(KEPT_PINNED_BYTES);
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      device.bind();
      pinned.close();
      device.close();
    }
  }
}
