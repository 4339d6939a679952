/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.solve;

import io.sparqr.error.IndexOverflowException;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.stored.FactorSegment;
import io.sparqr.spark.stored.TaskOutput;
import io.sparqr.spark.wire.VectorCodec;
import io.sparqr.spark.wire.VectorCodec.Sparse;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.threads.UnitThreads;
import java.util.Arrays;
import java.util.Iterator;

/**
 * Solves with one task's part of R on its executor, reading the packed rows in place: R x = c from
 * the top of the tree down, R'y = c from its leaves up, on the task's threads; the result does not
 * depend on their number. Dead columns keep the value 0. 2 flops per entry of R and right-hand
 * side; memory-bound.
 */
public final class TriangularSolve implements AutoCloseable {

  private final SymbolicAnalysis analysis;
  private final TaskFactor r;
  private final Places places;
  private final int width;
  private final double[] x;

  /**
   * @param descends whether the solve ends with back substitution, which checks the rows as it
   *     reads them
   */
  private TriangularSolve(
      SolvePlan plan,
      Iterator<TaskOutput> kept,
      Sparse given,
      boolean stored,
      int[] threads,
      boolean descends) {
    this.analysis = plan.analysis();
    this.r = new TaskFactor(plan, kept, threads, !descends);
    this.places = stored ? Places.all(analysis, r.task()) : Places.of(analysis, r.task(), given);
    this.width = given.width();
    long length = (long) places.count() * width;
    if (length > Integer.MAX_VALUE - 8) {
      throw new IndexOverflowException(
          width + " right-hand sides of " + places.count() + " columns", "solution", length);
    }
    this.x = new double[(int) length];
    for (int i = 0; i < given.position().length; i++) {
      System.arraycopy(given.value(), i * width, x, at(given.position()[i]), width);
    }
  }

  @Override
  public void close() {
    r.close();
  }

  private int at(int position) {
    return places.of(position) * width;
  }

  /**
   * Back substitution R x = c.
   *
   * @param kept the task's stored content, from {@code SubtreeRun}
   * @param given x at the columns outside the task; also c at the task's pivots unless {@code
   *     stored}
   * @param stored whether c is the Q'b stored with R, followed by the {@link
   *     io.sparqr.numeric.Probe}
   * @param threads threads for each task
   * @return x at the task's pivots
   */
  public static byte[] back(
      SolvePlan plan, Iterator<TaskOutput> kept, Sparse given, boolean stored, int[] threads) {
    if (stored) {
      return VectorCodec.encodeSparse(stored(plan, kept, given, threads));
    }
    try (var solve = new TriangularSolve(plan, kept, given, false, threads, true)) {
      solve.descend(false);
      solve.clearDead();
      return VectorCodec.encodeSparse(solve.pivots());
    }
  }

  /** As above, with c the Q'b stored with R, followed by the probe. */
  static Sparse stored(SolvePlan plan, Iterator<TaskOutput> kept, Sparse given, int[] threads) {
    try (var solve = new TriangularSolve(plan, kept, given, true, threads, true)) {
      solve.descend(true);
      return solve.pivots();
    }
  }

  /**
   * R x = 0 with x given at the dead columns.
   *
   * @param given x at the columns outside the task and at the task's dead pivots, 0 at live ones
   * @param threads threads for each task
   * @return x at the task's pivots
   */
  static byte[] homogeneous(
      SolvePlan plan, Iterator<TaskOutput> kept, Sparse given, int[] threads) {
    try (var solve = new TriangularSolve(plan, kept, given, false, threads, true)) {
      solve.descend(false);
      return VectorCodec.encodeSparse(solve.pivots());
    }
  }

  private void descend(boolean stored) {
    var units = new BackSubstitution(analysis, r, x, places, width, stored);
    UnitThreads.run(units, r.threads(), "sparqr-solve");
  }

  /** Clears pivots without a row. */
  private void clearDead() {
    for (int i = 0; i < r.count(); i++) {
      if (!places.has(r.front(i))) {
        continue;
      }
      int first = at(analysis.firstPivot(r.front(i)));
      int next = 0;
      for (FactorSegment s : r.rows(i)) {
        for (int k = 0; k < s.rows(); k++) {
          Arrays.fill(x, first + next * width, first + s.livePivot(k) * width, 0);
          next = s.livePivot(k) + 1;
        }
      }
      Arrays.fill(x, first + next * width, first + analysis.fp(r.front(i)) * width, 0);
    }
  }

  /**
   * Forward substitution R'y = c.
   *
   * @param given c at the task's pivots, lower tasks' updates already subtracted
   * @param rest whether dead columns receive the remainder of c, which is 0 up to rounding if c is
   *     a combination of R's rows; otherwise they are 0
   * @param threads threads for each task
   * @return y at the task's pivots, and at the columns outside the task the update to c
   */
  public static byte[] forward(
      SolvePlan plan, Iterator<TaskOutput> kept, Sparse given, boolean rest, int[] threads) {
    try (var solve = new TriangularSolve(plan, kept, given, false, threads, false)) {
      solve.ascend();
      if (!rest) {
        solve.clearDead();
      }
      Sparse own = solve.pivots();
      Sparse out = solve.at(solve.places.outside());
      int n = own.position().length;
      int[] position = Arrays.copyOf(own.position(), n + out.position().length);
      double[] value = Arrays.copyOf(own.value(), position.length * solve.width);
      System.arraycopy(out.position(), 0, position, n, out.position().length);
      System.arraycopy(out.value(), 0, value, n * solve.width, out.value().length);
      return VectorCodec.encodeSparse(new Sparse(position, value, solve.width));
    }
  }

  /**
   * R'R x = c for a task of whole trees.
   *
   * @param given c at the task's pivots
   * @param threads threads for each task
   * @return x at the task's pivots
   */
  static byte[] normal(SolvePlan plan, Iterator<TaskOutput> kept, Sparse given, int[] threads) {
    try (var solve = new TriangularSolve(plan, kept, given, false, threads, true)) {
      solve.ascend();
      solve.clearDead();
      solve.descend(false);
      solve.clearDead();
      return VectorCodec.encodeSparse(solve.pivots());
    }
  }

  private void ascend() {
    var units = new ForwardSubstitution(analysis, r, x, places, width);
    UnitThreads.run(units, r.threads(), "sparqr-solve");
    units.addOutside();
  }

  private Sparse pivots() {
    return at(places.pivots());
  }

  private Sparse at(int[] position) {
    double[] value = new double[position.length * width];
    for (int i = 0; i < position.length; i++) {
      System.arraycopy(x, at(position[i]), value, i * width, width);
    }
    return new Sparse(position, value, width);
  }
}
