/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.internal;

import io.sparqr.spark.LeastSquaresSolution;
import io.sparqr.spark.ProgressListener;
import io.sparqr.spark.plan.SolveOptions;
import io.sparqr.spark.resource.Foreground;
import io.sparqr.spark.rows.RowSource;

/** A solve that no user asked for: without lines in the log, and not counted as a user's. */
public final class TrialSolve {

  private static final ThreadLocal<Boolean> HERE = ThreadLocal.withInitial(() -> false);

  private TrialSolve() {}

  /** Solves as {@link Pipeline#solve} does. */
  public static LeastSquaresSolution run(RowSource rows, SolveOptions options) {
    HERE.set(true);
    try {
      return Pipeline.solve(rows, options, ProgressListener.NONE);
    } finally {
      HERE.remove();
    }
  }

  /** Whether the calling thread, a driver's, is in one. */
  static boolean here() {
    return HERE.get();
  }

  /** Marks the beginning of a user's solve, unless the calling thread is in a trial. */
  static void mark() {
    if (!here()) {
      Foreground.enter();
    }
  }
}
