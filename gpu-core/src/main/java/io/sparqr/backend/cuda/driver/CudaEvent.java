/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda.driver;

import jcuda.driver.CUevent;

/** An event of the current context, owned. */
public final class CudaEvent implements AutoCloseable {

  private final CudaDriver driver;
  private final CUevent handle = new CUevent();
  private boolean closed;

  public CudaEvent(CudaDriver driver, boolean timing) {
    this.driver = driver;
    driver.check("cuEventCreate", driver.calls().eventCreate(handle, timing));
    LiveResources.opened(LiveResources.Kind.EVENT);
  }

  CUevent handle() {
    return handle;
  }

  public void record(CudaStream stream) {
    driver.check("cuEventRecord", driver.calls().eventRecord(handle, stream.handle()));
  }

  /** Blocks the calling thread until the event is reached. */
  public void synchronize() {
    driver.check("cuEventSynchronize", driver.calls().eventSynchronize(handle));
  }

  /** Milliseconds from an earlier event; both were made with timing and are reached. */
  public float since(CudaEvent earlier) {
    float[] ms = {0};
    driver.check("cuEventElapsedTime", driver.calls().eventElapsed(ms, earlier.handle, handle));
    return ms[0];
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      LiveResources.closed(LiveResources.Kind.EVENT);
      driver.check("cuEventDestroy", driver.calls().eventDestroy(handle));
    }
  }
}
