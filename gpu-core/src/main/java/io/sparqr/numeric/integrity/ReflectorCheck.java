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
 * Checks that the reflectors kept by a task belong to its R. Column sums cover R alone, and damage
 * to V after its application does not change R. The reflectors are applied again to vectors with a
 * known image under Q': the probe t = W 1 of the rows ({@link ColumnProbe}), because A = QR implies
 * Q't = R u, and the right-hand sides carried along by the factorization. Each error is at most
 * that of a column ({@link Balance}), which gives the bound for the difference.
 */
final class ReflectorCheck {

  private final SubtreeProblem problem;
  private final SubtreeFactor factor;
  private final TaskColumns columns;
  private final ColumnProbe probe;

  /** Number of vectors: the probe and the right-hand sides. */
  private final int width;

  /** size width: sums of squares of the input, and of the differences in the output. */
  private final double[] size;

  private final double[] off;

  private ReflectorCheck(SubtreeProblem problem, SubtreeFactor factor, int threads) {
    this.problem = problem;
    this.factor = factor;
    columns = new TaskColumns(problem.analysis(), problem.fronts());
    BitSet dead = new FactorOut(problem, columns, factor).dead();
    probe = new RowsIn(columns, problem.rows(), null, problem.inputs(), threads).probe(dead);
    width = 1 + problem.rows().rhsCount();
    size = new double[width];
    off = new double[width];
  }

  /**
   * Applies the kept reflectors. O(values of rows, R and V) for each right-hand side and the probe,
   * one thread.
   *
   * @return the largest departure: for the probe relative to ||t|| + sqrt(columns), for a
   *     right-hand side relative to its norm
   * @throws IntegrityFailure if it is beyond {@link Balance}'s bound
   */
  static double verify(SubtreeProblem problem, SubtreeFactor factor, FactorOptions options) {
    var check = new ReflectorCheck(problem, factor, options.threads());
    double departure = check.departure();
    double bound = Balance.bound(Steps.of(problem, factor));
    if (!(departure <= bound)) {
      throw new IntegrityFailure("what kept reflectors make of a vector", -1, departure, bound);
    }
    return departure;
  }

  private double departure() {
    RowBlock rows = problem.rows();
    double[] given = ofRows(rows);
    addSquares(given, size);
    List<ContributionRhs> inputs = problem.inputs().stream().map(this::ofBlock).toList();
    inputs.forEach(b -> addSquares(b.values(), size));
    var run =
        new TaskReflection(
            problem.analysis(), problem.fronts(), rows.front(), given, width, false, inputs);
    factor.reflectors().forEach(run::run);
    compare(run.values(), ofR());
    List<ContributionRhs> turned = run.outputs();
    List<ContributionBlock> expected = factor.outputs();
    if (turned.size() != expected.size()) {
      return Double.NaN;
    }
    for (int b = 0; b < turned.size(); b++) {
      compare(turned.get(b).values(), ofBlock(expected.get(b)).values());
    }
    double worst = 0;
    for (int q = 0; q < width; q++) {
      // The probe has no residual; for a right-hand side only the norm of the residual is known.
      double ended =
          q == 0 ? 0 : Math.sqrt(factor.residualSquares()[q - 1]) * Math.abs(scale(q - 1));
      double norm = Math.sqrt(size[q]);
      double all = q == 0 ? Math.max(1, norm) + Math.sqrt(columns.count()) : norm;
      double different = Math.hypot(Math.sqrt(off[q]), run.residual()[q] - ended);
      // NaN counts as the worst, and Math.max keeps it.
      worst = Math.max(worst, different == 0 ? 0 : different / all);
    }
    return worst;
  }

  private void addSquares(double[] x, double[] sums) {
    for (int k = 0; k < x.length; k++) {
      sums[k % width] += x[k] * x[k];
    }
  }

  private void compare(double[] a, double[] b) {
    if (a.length != b.length) {
      throw new IntegrityFailure("kept reflectors have other rows than R");
    }
    double[] difference = new double[a.length];
    for (int k = 0; k < a.length; k++) {
      difference[k] = a[k] - b[k];
    }
    addSquares(difference, off);
  }

  /** Scales right-hand sides to norm 1, so that their squares do not overflow. */
  private double scale(int q) {
    return probe.scale()[probe.columns() + q];
  }

  private double[] ofRows(RowBlock r) {
    double[] x = new double[Math.multiplyExact(r.rows(), width)];
    for (int i = 0; i < r.rows(); i++) {
      for (int e = r.rowStart()[i]; e < r.rowStart()[i + 1]; e++) {
        x[i * width] += r.value()[e] * probe.u()[columns.number(r.position()[e])];
      }
      for (int q = 1; q < width; q++) {
        x[i * width + q] = r.rhs()[i * (width - 1) + q - 1] * scale(q - 1);
      }
    }
    return x;
  }

  private ContributionRhs ofBlock(ContributionBlock b) {
    int[] number = new int[b.cn()];
    columns.tailNumbers(b.front(), number, 0);
    int[] first = IntStream.range(0, b.cm()).toArray();
    double[] x = new double[Math.multiplyExact(b.cm(), width)];
    packed(b.values(), number, first, b.rhs(), x, 0);
    return new ContributionRhs(b.front(), x);
  }

  /** Products with the rows of R in the fronts' order. */
  private double[] ofR() {
    int rank = factor.fronts().stream().mapToInt(FrontFactor::rank).sum();
    double[] all = new double[Math.multiplyExact(rank, width)];
    int at = 0;
    for (FrontFactor f : factor.fronts()) {
      int[] number = new int[f.fn()];
      columns.numbers(f.front(), number, 0);
      double[] values = new double[f.length()];
      f.values().get(0, values);
      packed(values, number, f.livePivot(), f.rhs(), all, at);
      at += f.rank() * width;
    }
    return all;
  }

  /** Products with packed rows, where row i starts at column first[i]. */
  private void packed(
      double[] values, int[] number, int[] first, double[] rhs, double[] to, int from) {
    int at = 0;
    for (int i = 0; i < first.length; i++) {
      double t = 0;
      for (int k = first[i]; k < number.length; k++) {
        t += values[at++] * probe.u()[number[k]];
      }
      to[from + i * width] = t;
      for (int q = 1; q < width; q++) {
        to[from + i * width + q] = rhs[i * (width - 1) + q - 1] * scale(q - 1);
      }
    }
  }
}
