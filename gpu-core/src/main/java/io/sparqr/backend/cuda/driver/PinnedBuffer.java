/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda.driver;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * Page-locked host memory, owned; at most 2 GiB - 1, since its view is a ByteBuffer. With an event
 * for its transfers, so that not every transfer needs a new one.
 */
public final class PinnedBuffer implements AutoCloseable {

  private final CudaDriver driver;
  private final CudaCalls.HostMemory memory = new CudaCalls.HostMemory();
  private final int bytes;
  private @Nullable CudaEvent event;
  private boolean closed;

  /** Allocates; a device's context must be current. */
  public PinnedBuffer(CudaDriver driver, int bytes) {
    this.driver = driver;
    this.bytes = bytes;
    driver.checkMemory("cuMemHostAlloc", driver.calls().hostAllocate(memory, bytes), bytes);
    LiveResources.opened(LiveResources.Kind.PINNED_BUFFER);
  }

  /** A view of bytes [from, to), in native order. */
  public ByteBuffer view(int from, int to) {
    return memory.view.duplicate().position(from).limit(to).slice().order(ByteOrder.nativeOrder());
  }

  public CudaCalls.HostMemory memory() {
    return memory;
  }

  /** The event of the user's transfers; without timing. The device's context must be current. */
  public CudaEvent event() {
    if (event == null) {
      event = new CudaEvent(driver, false);
    }
    return event;
  }

  public int bytes() {
    return bytes;
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      if (event != null) {
        event.close();
      }
      LiveResources.closed(LiveResources.Kind.PINNED_BUFFER);
      driver.check("cuMemFreeHost", driver.calls().hostFree(memory));
    }
  }
}
