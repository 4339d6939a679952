/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import io.sparqr.error.FatalCudaException;
import java.util.function.Consumer;

/**
 * The resources kept between a JVM's tasks on one device: the context, the loaded kernels and
 * page-locked buffers. Creating them takes 0.15 s, longer than many tasks. Device memory is not
 * kept, because other processes share the device, except for rows of R for later solves ({@link
 * Residents}). Handed out by {@link DeviceSessions}.
 */
final class DeviceSession implements AutoCloseable {

  /** Page-locked bytes kept between tasks. */
  private static final long KEPT_PINNED_BYTES = 1L << 30;

  /** Page-locked buffers of the smallest size to begin with: 256 MiB. */
  private static final int FIRST_BUFFERS = 32;

  private final CudaDevice device;
  private final PinnedPool pinned;
  private final Residents residents = new Residents();
  private Consumer<FatalCudaException> onLost = e -> {};
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

  /** The rows of R that stay on the device. */
  Residents residents() {
    return residents;
  }

  /** Sets what is done when the context is lost. */
  void onLost(Consumer<FatalCudaException> action) {
    onLost = action;
  }

  /** To be called by users without a lease, after a sticky error. */
  void lost(FatalCudaException error) {
    onLost.accept(error);
  }

  /** Takes the page-locked buffers of a first task, which cost it a tenth of a second otherwise. */
  void prepare() {
    device.bind();
    pinned.fill(FIRST_BUFFERS);
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
      residents.close();
      pinned.close();
      device.close();
    }
  }
}
