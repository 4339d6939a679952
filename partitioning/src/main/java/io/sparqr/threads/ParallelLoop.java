/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.threads;

import java.util.concurrent.CountedCompleter;
import java.util.concurrent.ForkJoinPool;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A loop over numbered pieces of work that may run side by side, on the workers of the pool that
 * the caller belongs to. The number of pieces must depend on the work alone, so that results do,
 * too. A thread that waits for a loop helps with that loop only and never picks up work of other
 * branches of the recursion.
 */
public final class ParallelLoop extends CountedCompleter<Void> {
  private static final long serialVersionUID = 1;

  /**
   * From this number of threads on an algorithm that shares its work out, at twice the work, is
   * worth it. It must give the same result as the one for fewer threads.
   */
  private static final int SEVERAL = 4;

  /** Elements per piece of a loop, at least: some 50 microseconds of scattered accesses. */
  private static final int PIECE = 1 << 14;

  private static final int MOST_PIECES = 64;

  /** Work on the elements from .. to-1. */
  @FunctionalInterface
  public interface Range {
    /** Does it. */
    void accept(int from, int to);
  }

  private final transient IntConsumer body;
  private final int from;
  private final int to;

  private ParallelLoop(@Nullable ParallelLoop parent, IntConsumer body, int from, int to) {
    super(parent);
    this.body = body;
    this.from = from;
    this.to = to;
  }

  /**
   * Calls the body with 0 .. count-1 and returns when all have returned; 0 runs in the caller.
   * Outside of a pool they run one after another.
   */
  public static void run(int count, IntConsumer body) {
    run(count, body, getPool());
  }

  /** {@link #run(int, IntConsumer)}, but a caller outside of any pool uses the common one. */
  public static void onAll(int count, IntConsumer body) {
    run(count, body, pool());
  }

  /** Works on the elements 0 .. n-1 in ranges, as {@link #onAll}. */
  public static void ranges(int n, Range work) {
    int pieces = Math.max(1, Math.min(MOST_PIECES, n / PIECE));
    onAll(
        pieces,
        p -> work.accept((int) ((long) n * p / pieces), (int) ((long) n * (p + 1) / pieces)));
  }

  /** Whether {@link #onAll} has enough threads for work that is shared out at a cost. */
  public static boolean several() {
    ForkJoinPool pool = pool();
    // a caller outside of the common pool helps it
    int threads = pool.getParallelism() + (getPool() == null ? 1 : 0);
    return threads >= SEVERAL;
  }

  private static ForkJoinPool pool() {
    ForkJoinPool own = getPool();
    return own == null ? ForkJoinPool.commonPool() : own;
  }

  private static void run(int count, IntConsumer body, ForkJoinPool pool) {
    boolean alone = pool == null || getPool() == pool && pool.getParallelism() == 1;
    if (count < 2 || alone) {
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
