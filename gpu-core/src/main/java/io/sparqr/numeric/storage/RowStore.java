/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.storage;

import io.sparqr.jvm.LostOwners;
import io.sparqr.numeric.RowMemory;
import io.sparqr.symbolic.FrontMemory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The rows of R of one attempt of a task, outside the heap: in memory within a budget, beyond it in
 * a file. All of them are freed together when the last holder has let go; a holder that is lost
 * instead is noticed by the collector, which then frees each slab after the last buffer of it.
 *
 * <p>Rows of many small fronts share a slab. Several threads allocate at once, each in a slab of
 * its own, so that the rows of neighboring fronts lie together and no thread waits while another
 * one's slab is cleared. The slabs grow with what they have taken: a small task takes little.
 */
public final class RowStore implements RowMemory, AutoCloseable {

  /** Places for threads to allocate; a power of two. */
  private static final int STRIPES = 8;

  private static final int FIRST_BYTES = 1 << 15;
  private static final int LAST_BYTES = 1 << 20;

  /** Rows of this many bytes have a slab of their own. */
  private static final int LARGE_BYTES = 1 << 17;

  private final Slabs slabs;
  private final Stripe[] stripes = new Stripe[STRIPES];
  private final AtomicInteger holders = new AtomicInteger(1);

  /**
   * An empty store with one holder, the caller.
   *
   * @param budget limits the memory
   * @param folder for a file beyond it; made when it is needed
   */
  public RowStore(RowBudget budget, Path folder) {
    slabs = new Slabs(budget, folder);
    for (int k = 0; k < STRIPES; k++) {
      stripes[k] = new Stripe();
    }
    LostOwners.whenLost(this, slabs::forget);
  }

  /** A slab in which rows are put one after the other. */
  private final class Stripe {
    private DoubleBuffer slab = DoubleBuffer.allocate(0);
    private int used;
    private int next = FIRST_BYTES;

    synchronized DoubleBuffer allocate(int doubles) {
      if (doubles > slab.capacity() - used) {
        slab = view(slabs.add(Math.max(next, Double.BYTES * doubles)));
        used = 0;
        next = Math.min(LAST_BYTES, 4 * next);
      }
      DoubleBuffer part = slab.slice(used, doubles);
      used += doubles;
      return part;
    }
  }

  /**
   * {@inheritDoc}
   *
   * @throws io.sparqr.error.DiskFullException if neither memory nor disk has room
   */
  @Override
  public DoubleBuffer allocate(int doubles) {
    long bytes = (long) Double.BYTES * doubles;
    if (bytes > FrontMemory.MOST_BUFFER_BYTES) {
      // No buffer is that long; such a front is rare, and its rows stay in the heap.
      return RowMemory.HEAP.allocate(doubles);
    }
    if (bytes >= LARGE_BYTES) {
      return view(slabs.add((int) bytes));
    }
    int stripe = (int) Thread.currentThread().getId() & STRIPES - 1;
    return stripes[stripe].allocate(doubles);
  }

  private static DoubleBuffer view(ByteBuffer slab) {
    return slab.order(ByteOrder.nativeOrder()).asDoubleBuffer();
  }

  /** Bytes in memory. */
  public long memoryBytes() {
    return slabs.memoryBytes();
  }

  /** Bytes in a file. */
  public long fileBytes() {
    return slabs.fileBytes();
  }

  /**
   * Adds a holder, who must call {@link #close} once.
   *
   * @throws IllegalStateException if the rows are freed already
   */
  public void hold() {
    int before = holders.get();
    while (before > 0 && !holders.compareAndSet(before, before + 1)) {
      before = holders.get();
    }
    if (before <= 0) {
      throw new IllegalStateException("these rows of R are freed: their factorization is closed");
    }
  }

  /** Ends the use by one holder; the last one frees the rows. */
  @Override
  public void close() {
    if (holders.decrementAndGet() == 0) {
      slabs.free();
    }
  }
}
