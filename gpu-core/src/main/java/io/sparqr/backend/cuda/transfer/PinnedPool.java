/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda.transfer;

import io.sparqr.backend.cuda.driver.CudaDriver;
import io.sparqr.backend.cuda.driver.PinnedBuffer;
import io.sparqr.error.InsufficientMemoryException;
import java.util.ArrayList;
import java.util.List;

/**
 * Page-locked staging buffers, kept for reuse: page-locking costs about as much as filling the
 * memory. The buffer released last is handed out first, because its lines may still be in the
 * processor's caches. Sizes are powers of two, at least {@link #SMALLEST}. Thread-safe; the
 * device's context must be current in the calling thread.
 */
public final class PinnedPool implements AutoCloseable {

  /** Bytes of the smallest buffer. */
  static final int SMALLEST = 8 << 20;

  private final CudaDriver driver;
  private final List<PinnedBuffer> free = new ArrayList<>();

  /** Whether buffers have been taken from it: then it has as many as its users need. */
  private boolean used;

  public PinnedPool(CudaDriver driver) {
    this.driver = driver;
  }

  /** A buffer of at least this size; the caller returns it with {@link #release}. */
  public PinnedBuffer acquire(long bytes) {
    if (bytes > Integer.MAX_VALUE) {
      throw new InsufficientMemoryException(
          "a staging buffer of " + bytes + " bytes: at most 2 GiB", bytes, Integer.MAX_VALUE);
    }
    synchronized (this) {
      used = true;
      PinnedBuffer best = null;
      for (PinnedBuffer b : free) {
        if (b.bytes() >= bytes && (best == null || b.bytes() <= best.bytes())) {
          best = b;
        }
      }
      if (best != null) {
        free.remove(best);
        return best;
      }
    }
    long size = SMALLEST;
    while (size < bytes) {
      size *= 2;
    }
    return new PinnedBuffer(driver, (int) Math.min(size, Integer.MAX_VALUE));
  }

  /** Makes up to this many of the smallest buffers ahead of the first user, and none beside one. */
  public void fill(int count) {
    for (int k = 0; k < count; k++) {
      synchronized (this) {
        if (used || free.size() >= count) {
          return;
        }
      }
      release(new PinnedBuffer(driver, SMALLEST));
    }
  }

  public synchronized void release(PinnedBuffer buffer) {
    free.add(buffer);
  }

  /** Frees the largest unused buffers until at most this many bytes are left. */
  public synchronized void trim(long bytes) {
    long held = free.stream().mapToLong(PinnedBuffer::bytes).sum();
    free.sort((a, b) -> Integer.compare(a.bytes(), b.bytes()));
    while (held > bytes) {
      PinnedBuffer last = free.remove(free.size() - 1);
      held -= last.bytes();
      last.close();
    }
  }

  @Override
  public synchronized void close() {
    free.forEach(PinnedBuffer::close);
    free.clear();
  }
}
