/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda.driver;

import jcuda.driver.CUdeviceptr;

/** Device memory, owned. */
public final class DeviceBuffer implements AutoCloseable {

  private final CudaDriver driver;
  private final DeviceAddress address = new DeviceAddress();
  private final long bytes;
  private boolean closed;

  /**
   * Allocates; the device's context must be current.
   *
   * @throws io.sparqr.error.InsufficientMemoryException if there is not enough
   */
  public DeviceBuffer(CudaDriver driver, long bytes) {
    this.driver = driver;
    this.bytes = bytes;
    driver.checkMemory(
        "cuMemAlloc", driver.calls().memoryAllocate(address, Math.max(bytes, 16)), bytes);
    LiveResources.opened(LiveResources.Kind.DEVICE_BUFFER);
    LiveResources.deviceBytes(bytes);
  }

  /** The address as a kernel parameter. */
  public long address() {
    return address.value();
  }

  /** A pointer to an offset in bytes. */
  public CUdeviceptr at(long offset) {
    return address.withByteOffset(offset);
  }

  public long bytes() {
    return bytes;
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      LiveResources.closed(LiveResources.Kind.DEVICE_BUFFER);
      LiveResources.deviceBytes(-bytes);
      driver.check("cuMemFree", driver.calls().memoryFree(address));
    }
  }
}
