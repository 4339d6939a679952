/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.jvm;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * Bytes that their users share: taken before they are used, given back afterwards, never more than
 * the budget. Thread-safe.
 *
 * <p>It is for amounts that are known, and can be refused. Kept apart are: the predictions of
 * running tasks, which are never refused, but move blocks of Spark's out of the way; the units of a
 * task's tree, which are admitted in a fixed order, so that the last one always fits; R on a
 * device, which makes room by leaving it; and the driver's check before its first large array,
 * which looks at the heap and holds nothing.
 */
public final class ByteBudget {

  private final LongSupplier most;
  private final AtomicLong taken = new AtomicLong();

  /** A budget of this many bytes. */
  public ByteBudget(long most) {
    this(() -> most);
  }

  /**
   * A budget that a setting decides.
   *
   * @param most asked at every {@link #take}
   */
  public ByteBudget(LongSupplier most) {
    this.most = most;
  }

  /** Takes bytes; takes none and returns false if fewer are left. */
  public boolean take(long bytes) {
    long before = taken.get();
    while (bytes <= most.getAsLong() - before) {
      if (taken.compareAndSet(before, before + bytes)) {
        return true;
      }
      before = taken.get();
    }
    return false;
  }

  /** Returns bytes that were taken; tells how many still are. */
  public long giveBack(long bytes) {
    return taken.addAndGet(-bytes);
  }

  /** The size of the budget in bytes, at present. */
  public long most() {
    return most.getAsLong();
  }

  /** The bytes that are taken at present. */
  public long taken() {
    return taken.get();
  }

  /** The bytes that may still be taken; negative if the budget has shrunk. */
  public long left() {
    return most.getAsLong() - taken.get();
  }
}
