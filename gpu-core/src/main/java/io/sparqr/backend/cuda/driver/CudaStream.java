/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda.driver;

import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUstream;

/** A stream of the current context, owned. Never the default stream. */
public final class CudaStream implements AutoCloseable {

  private final CudaDriver driver;
  private final CUstream handle = new CUstream();
  private boolean closed;

  public CudaStream(CudaDriver driver) {
    this(driver, 0);
  }

  private CudaStream(CudaDriver driver, int priority) {
    this.driver = driver;
    driver.check("cuStreamCreateWithPriority", driver.calls().streamCreate(handle, priority));
    LiveResources.opened(LiveResources.Kind.STREAM);
  }

  /** A stream whose waiting blocks are scheduled before those of other streams. */
  public static CudaStream urgent(CudaDriver driver) {
    return new CudaStream(driver, -1);
  }

  CUstream handle() {
    return handle;
  }

  public void synchronize() {
    driver.check("cuStreamSynchronize", driver.calls().streamSynchronize(handle));
  }

  /** Makes later work wait for the event. */
  public void await(CudaEvent event) {
    driver.check("cuStreamWaitEvent", driver.calls().streamWaitEvent(handle, event.handle()));
  }

  public void upload(CUdeviceptr to, PinnedBuffer from, long fromOffset, long bytes) {
    driver.check(
        "cuMemcpyHtoDAsync",
        driver.calls().copyToDeviceAsync(to, from.memory(), fromOffset, bytes, handle));
  }

  public void download(PinnedBuffer to, long toOffset, CUdeviceptr from, long bytes) {
    driver.check(
        "cuMemcpyDtoHAsync",
        driver.calls().copyToHostAsync(to.memory(), toOffset, from, bytes, handle));
  }

  public void fill(CUdeviceptr address, byte value, long bytes) {
    if (bytes > 0) {
      driver.check("cuMemsetD8Async", driver.calls().setAsync(address, value, bytes, handle));
    }
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      LiveResources.closed(LiveResources.Kind.STREAM);
      driver.check("cuStreamDestroy", driver.calls().streamDestroy(handle));
    }
  }
}
