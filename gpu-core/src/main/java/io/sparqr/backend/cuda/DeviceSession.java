/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

/**
 * The resources kept between a JVM's tasks on one device: the context, the loaded kernels and
 * page-locked buffers. Creating them takes 0.15 s, longer than many tasks. Device memory is not
 * kept, because other processes share the device. Handed out by {@link DeviceSessions}.
 */
final class DeviceSession implements AutoCloseable {

  /** Page-locked bytes kept between tasks. */
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

  /** Called between tasks: releases buffers beyond the limit. */
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
