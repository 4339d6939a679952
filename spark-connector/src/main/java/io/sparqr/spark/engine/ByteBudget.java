/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.engine;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/** Bytes of heap that all who take of them share. Thread-safe. */
public final class ByteBudget {

  private final LongSupplier most;
  private final AtomicLong taken = new AtomicLong();

  /** So many bytes. */
  public ByteBudget(long most) {
    this(() -> most);
  }

  /**
   * As many bytes as a setting says.
   *
   * @param most asked at every {@link #take}
   */
  public ByteBudget(LongSupplier most) {
    this.most = most;
  }

  /** Takes bytes, or none and returns false if there are not so many left. */
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

  /** Gives bytes back that were taken. */
  public void giveBack(long bytes) {
    taken.addAndGet(-bytes);
  }

  /** Bytes that it has in all. */
  public long most() {
    return most.getAsLong();
  }

  /** Bytes that are taken. */
  public long taken() {
    return taken.get();
  }

  /** Bytes that are not taken. */
  public long left() {
    return most.getAsLong() - taken.get();
  }
}
