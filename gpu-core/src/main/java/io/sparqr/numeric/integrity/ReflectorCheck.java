/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.integrity;

import io.sparqr.numeric.ContributionBlock;
import io.sparqr.numeric.ContributionRhs;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.FrontFactor;
import io.sparqr.numeric.RowBlock;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.TaskReflection;
import java.util.BitSet;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Whether the reflectors that a task keeps are those of its R: with the probe t = W 1 of the rows
 * ({@link ColumnProbe}), A = QR says Q't = R u row by row. Column sums see R alone, and what
 * befalls V after it was applied does not change R.
 */
final class ReflectorCheck {

  private final SubtreeProblem problem;
  private final SubtreeFactor factor;
  private final TaskColumns columns;
  private final ColumnProbe probe;

  /** Sum of the squares of t. */
  private double squares;

  private ReflectorCheck(SubtreeProblem problem, SubtreeFactor factor, int threads) {
    this.problem = problem;
    this.factor = factor;
    columns = new TaskColumns(problem.analysis(), problem.fronts());
    BitSet dead = new FactorOut(columns, factor).dead(problem.analysis());
    probe = new RowsIn(columns, problem.rows(), null, problem.inputs(), threads).probe(dead);
  }

  /**
   * Turns the probe of a task's rows by the reflectors. O(values of rows, R and V), one thread.
   *
   * @return the departure relative to ||t|| + sqrt(columns)
   * @throws IntegrityFailure if it is beyond {@link Balance}'s bound
   */
  static double verify(SubtreeProblem problem, SubtreeFactor factor, FactorOptions options) {
    var check = new ReflectorCheck(problem, factor, options.threads());
    double departure = check.departure();
    double bound = Balance.bound(Steps.of(problem, factor));
    if (!(departure <= bound)) {
      throw new IntegrityFailure("kept reflectors, by the probe,", -1, departure, bound);
    }
    return departure;
  }

  private double departure() {
    double[] t = ofRows(problem.rows());
    List<ContributionRhs> inputs = problem.inputs().stream().map(this::ofBlock).toList();
    inputs.forEach(b -> addSquares(b.values()));
    addSquares(t);
    double size = Math.sqrt(Math.max(1, squares)) + Math.sqrt(columns.count());
    var run =
        new TaskReflection(
            problem.analysis(), problem.fronts(), problem.rows().front(), t, 1, false, inputs);
    factor.reflectors().forEach(run::run);
    double off = run.residual()[0];
    off = Math.hypot(off, distance(run.values(), ofR()));
    List<ContributionRhs> turned = run.outputs();
    List<ContributionBlock> expected = factor.outputs();
    if (turned.size() != expected.size()) {
      return Double.NaN;
    }
    for (int b = 0; b < turned.size(); b++) {
      off = Math.hypot(off, distance(turned.get(b).values(), ofBlock(expected.get(b)).values()));
    }
    return off / size;
  }

  private void addSquares(double[] t) {
    for (double x : t) {
      squares += x * x;
    }
  }

  private static double distance(double[] a, double[] b) {
    if (a.length != b.length) {
      return Double.NaN;
    }
    double sum = 0;
    for (int k = 0; k < a.length; k++) {
      sum += (a[k] - b[k]) * (a[k] - b[k]);
    }
    return Math.sqrt(sum);
  }

  private double[] ofRows(RowBlock r) {
    double[] t = new double[r.rows()];
    for (int i = 0; i < t.length; i++) {
      for (int e = r.rowStart()[i]; e < r.rowStart()[i + 1]; e++) {
        t[i] += r.value()[e] * probe.u()[columns.number(r.position()[e])];
      }
    }
    return t;
  }

  private ContributionRhs ofBlock(ContributionBlock b) {
    int[] number = new int[b.cn()];
    columns.tailNumbers(b.front(), number, 0);
    int[] first = IntStream.range(0, b.cm()).toArray();
    return new ContributionRhs(b.front(), ofPacked(b.values(), number, first));
  }

  /** Rows of R in the fronts' order. */
  private double[] ofR() {
    double[] all = new double[factor.fronts().stream().mapToInt(FrontFactor::rank).sum()];
    int at = 0;
    for (FrontFactor f : factor.fronts()) {
      int[] number = new int[f.fn()];
      columns.numbers(f.front(), number, 0);
      double[] t = ofPacked(f.values(), number, f.livePivot());
      System.arraycopy(t, 0, all, at, t.length);
      at += t.length;
    }
    return all;
  }

  /** Rows one after the other, row i from column first[i] on. */
  private double[] ofPacked(double[] values, int[] number, int[] first) {
    double[] t = new double[first.length];
    int at = 0;
    for (int i = 0; i < t.length; i++) {
      for (int k = first[i]; k < number.length; k++) {
        t[i] += values[at++] * probe.u()[number[k]];
      }
    }
    return t;
  }
}
