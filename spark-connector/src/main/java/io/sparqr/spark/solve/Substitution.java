/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.solve;

import io.sparqr.numeric.ResidentFactor;
import io.sparqr.partition.SubtreeTask;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.stored.TaskOutput;
import io.sparqr.spark.wire.VectorCodec;
import io.sparqr.spark.wire.VectorCodec.Sparse;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.Arrays;
import java.util.Iterator;
import java.util.Optional;
import java.util.function.IntPredicate;

/**
 * What a task solves with its part of R, on a device where R has stayed or with the stored rows.
 * Both have R with a positive diagonal, so that the values that tasks hand on are the same but for
 * rounding, wherever the next task does its part.
 */
public enum Substitution {

  /** R'R x = c, for tasks of whole trees. */
  NORMAL(true, false, false, ResidentFactor::solve, TriangularSolve::normal),

  /** R'y = c; y is 0 in dead columns. */
  FORWARD(
      true,
      false,
      true,
      ResidentFactor::forward,
      (plan, kept, given, threads) -> TriangularSolve.forward(plan, kept, given, false, threads)),

  /** As above, with the remainder of c in dead columns, which a task on a device does not have. */
  FORWARD_WITH_REST(
      true,
      false,
      true,
      ResidentFactor::forward,
      (plan, kept, given, threads) -> TriangularSolve.forward(plan, kept, given, true, threads)),

  /** R x = c. */
  BACK(
      true,
      true,
      false,
      ResidentFactor::back,
      (plan, kept, given, threads) -> TriangularSolve.back(plan, kept, given, false, threads)),

  /** R x = 0 with x given in dead columns, which a task on a device does not have. */
  HOMOGENEOUS(true, true, false, ResidentFactor::back, TriangularSolve::homogeneous),

  /** R x = c with the Q'b stored with R, and the {@link io.sparqr.numeric.Probe} after it. */
  STORED(
      false,
      true,
      false,
      (r, outside, width) -> r.solveStored(outside),
      (plan, kept, given, threads) -> TriangularSolve.back(plan, kept, given, true, threads));

  private final boolean takesPivots;
  private final boolean takesOutside;
  private final boolean updates;
  private final OnDevice onDevice;
  private final WithRows withRows;

  Substitution(
      boolean takesPivots,
      boolean takesOutside,
      boolean updates,
      OnDevice onDevice,
      WithRows withRows) {
    this.takesPivots = takesPivots;
    this.takesOutside = takesOutside;
    this.updates = updates;
    this.onDevice = onDevice;
    this.withRows = withRows;
  }

  private interface OnDevice {
    Optional<double[]> solve(ResidentFactor r, double[] given, int width);
  }

  private interface WithRows {
    byte[] solve(SolvePlan plan, Iterator<TaskOutput> kept, Sparse given, int[] threads);
  }

  /**
   * The solution at the task's pivots and, for R'y = c, the updates at the columns outside; empty
   * if R is gone.
   *
   * @param given values at the {@link #given} positions, width each
   */
  Optional<double[]> onDevice(ResidentFactor r, double[] given, int width) {
    return onDevice.solve(r, given, width);
  }

  /**
   * As above, encoded.
   *
   * @param kept the task's stored content
   * @param threads threads for each task
   */
  byte[] withRows(SolvePlan plan, Iterator<TaskOutput> kept, Sparse given, int[] threads) {
    if (takesPivots && given.position().length == 0) {
      // none of its fronts takes part
      return VectorCodec.encodeSparse(given);
    }
    return withRows.solve(plan, kept, given, threads);
  }

  /** The positions of the values that a task takes. */
  int[] given(Part part) {
    return part.positions(takesPivots, takesOutside);
  }

  /** The positions of the values that it makes. */
  int[] made(Part part) {
    return part.positions(true, updates);
  }

  /**
   * The positions of a task, ascending.
   *
   * @param pivots its pivots
   * @param outside other columns with entries in its rows of R
   */
  record Part(int[] pivots, int[] outside) {

    static Part of(SymbolicAnalysis analysis, SubtreeTask task) {
      return of(analysis, task, f -> true);
    }

    /** Of some of its fronts. */
    static Part of(SymbolicAnalysis analysis, SubtreeTask task, IntPredicate has) {
      return new Part(
          TaskColumns.pivots(analysis, task, has), TaskColumns.outside(analysis, task, has));
    }

    /** The pivots, then the columns outside. */
    private int[] positions(boolean withPivots, boolean withOutside) {
      if (!withOutside || outside.length == 0) {
        return withPivots ? pivots : new int[0];
      }
      if (!withPivots) {
        return outside;
      }
      int[] both = Arrays.copyOf(pivots, pivots.length + outside.length);
      System.arraycopy(outside, 0, both, pivots.length, outside.length);
      return both;
    }
  }
}
