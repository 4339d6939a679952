/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.stream.IntStream;

/** The threads that a parallel stream of the caller may use. */
final class Threads {

  /**
   * From this number on an algorithm that shares its work out, at twice the work, is worth it. It
   * must give the same result as the one for fewer threads.
   */
  private static final int SEVERAL = 4;

  /** Elements per piece of a loop, at least: some 50 microseconds of scattered accesses. */
  private static final int PIECE = 1 << 14;

  private static final int MOST_PIECES = 64;

  private Threads() {}

  /** Work on the elements from .. to-1. */
  interface Range {
    /** Does it. */
    void accept(int from, int to);
  }

  /** Works on the elements 0 .. n-1 in ranges, on all threads. */
  static void ranges(int n, Range work) {
    int pieces = Math.max(1, Math.min(MOST_PIECES, n / PIECE));
    IntStream.range(0, pieces)
        .parallel()
        .forEach(
            p -> work.accept((int) ((long) n * p / pieces), (int) ((long) n * (p + 1) / pieces)));
  }

  /** Whether there are enough for work that is shared out at a cost. */
  static boolean several() {
    ForkJoinPool pool = ForkJoinTask.getPool();
    // a caller outside of any pool helps the common one
    int threads =
        pool == null ? ForkJoinPool.commonPool().getParallelism() + 1 : pool.getParallelism();
    return threads >= SEVERAL;
  }
}
