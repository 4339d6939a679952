/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Page-locked host memory, owned; at most 2 GiB - 1, since its view is a ByteBuffer. */
final class PinnedBuffer implements AutoCloseable {

  private final CudaDriver driver;
  private final CudaCalls.HostMemory memory = new CudaCalls.HostMemory();
  private final int bytes;
  private boolean closed;

  /** Allocates; a device's context must be current. */
  PinnedBuffer(CudaDriver driver, int bytes) {
    this.driver = driver;
    this.bytes = bytes;
    driver.checkMemory("cuMemHostAlloc", driver.calls().hostAllocate(memory, bytes), bytes);
    LiveResources.opened(LiveResources.Kind.PINNED_BUFFER);
  }

  /** A view of bytes [from, to), in native order. */
  ByteBuffer view(int from, int to) {
    return memory.view.duplicate().position(from).limit(to).slice().order(ByteOrder.nativeOrder());
  }

  CudaCalls.HostMemory memory() {
    return memory;
  }

  int bytes() {
    return bytes;
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      LiveResources.closed(LiveResources.Kind.PINNED_BUFFER);
      driver.check("cuMemFreeHost", driver.calls().hostFree(memory));
    }
  }
}
