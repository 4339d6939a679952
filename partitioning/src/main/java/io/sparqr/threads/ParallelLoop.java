/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.threads;

import java.util.concurrent.CountedCompleter;
import java.util.concurrent.ForkJoinPool;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A loop over numbered pieces of work that may run side by side, on the workers of the pool that
 * the caller belongs to; outside of a pool, or on a pool of one thread, one after another. The
 * number of pieces must depend on the work alone, so that results do, too. A thread that waits for
 * a loop helps with that loop only and never picks up work of other branches of the recursion.
 */
public final class ParallelLoop extends CountedCompleter<Void> {
  private static final long serialVersionUID = 1;

  private final transient IntConsumer body;
  private final int from;
  private final int to;

  private ParallelLoop(@Nullable ParallelLoop parent, IntConsumer body, int from, int to) {
    super(parent);
    this.body = body;
    this.from = from;
    this.to = to;
  }

  /** Calls the body with 0 .. count-1 and returns when all have returned; 0 runs in the caller. */
  public static void run(int count, IntConsumer body) {
    ForkJoinPool pool = getPool();
    if (count < 2 || pool == null || pool.getParallelism() == 1) {
      for (int i = 0; i < count; i++) {
        body.accept(i);
      }
      return;
    }
    new ParallelLoop(null, body, 0, count).invoke();
  }

  @Override
  public void compute() {
    int end = to;
    while (end - from > 1) {
      int middle = (from + end) >>> 1;
      addToPendingCount(1);
      new ParallelLoop(this, body, middle, end).fork();
      end = middle;
    }
    body.accept(from);
    tryComplete();
  }
}
