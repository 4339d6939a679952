/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;

/** The threads that a parallel stream of the caller may use. */
final class Threads {

  /**
   * From this number on an algorithm that shares its work out, at twice the work, is worth it. It
   * must give the same result as the one for fewer threads.
   */
  private static final int SEVERAL = 4;

  private Threads() {}

  /** Whether there are enough for work that is shared out at a cost. */
  static boolean several() {
    ForkJoinPool pool = ForkJoinTask.getPool();
    // a caller outside of any pool helps the common one
    int threads =
        pool == null ? ForkJoinPool.commonPool().getParallelism() + 1 : pool.getParallelism();
    return threads >= SEVERAL;
  }
}
