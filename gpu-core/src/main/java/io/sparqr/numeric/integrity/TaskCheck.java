/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.integrity;

import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.RowBlock;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.BitSet;
import java.util.List;

/** Checks that a task's result is an orthogonal transformation of its input. */
public final class TaskCheck {

  private TaskCheck() {}

  /**
   * Compares the column sums of a task's rows and blocks with those of its result. O(entries in and
   * out) on the options' threads; about 90 bytes per column.
   *
   * @return the largest relative departure
   * @throws IntegrityFailure if one is beyond {@link Balance}'s bound
   */
  public static double verify(SubtreeProblem problem, SubtreeFactor factor, FactorOptions options) {
    var columns = new TaskColumns(problem.analysis(), problem.fronts());
    var out = new FactorOut(problem, columns, factor);
    BitSet dead = out.dead();
    var in = new RowsIn(columns, problem.rows(), null, problem.inputs(), options.threads());
    ColumnProbe probe = options.unitColumns() ? in.unitProbe(dead) : in.probe(dead);
    long steps = Steps.of(problem, out.ranks());
    var balance = new Balance(columns, probe, in.sums(probe), steps, options.threads());
    // The part dropped from one column is at most the tolerance (Heath 1982).
    double dropped = Math.min(factor.summary().droppedNorm(), Math.max(0, options.rankTolerance()));
    return balance.verify(
        out.sums(probe, options.threads()), factor.residualSquares(), dead, dropped);
  }

  /**
   * As above, for rows of one front and their replacement.
   *
   * @param in rows of the front
   * @param out the rows that replace them, an upper trapezoid
   * @param residualSquares size rhsCount: squares of the right-hand sides eliminated
   * @return the largest relative departure
   * @throws IntegrityFailure if one is beyond {@link Balance}'s bound
   */
  public static double verifyRows(
      SymbolicAnalysis analysis, int front, RowBlock in, RowBlock out, double[] residualSquares) {
    var columns = new TaskColumns(analysis, new int[] {front});
    var before = new RowsIn(columns, in, null, List.of(), 1);
    var none = new BitSet();
    ColumnProbe probe = before.probe(none);
    long steps = Steps.ofFront(in.rows(), analysis.fn(front));
    var balance = new Balance(columns, probe, before.sums(probe), steps, 1);
    ColumnSums after = new RowsIn(columns, out, null, List.of(), 1).sums(probe);
    return balance.verify(after, residualSquares, none, 0);
  }
}
