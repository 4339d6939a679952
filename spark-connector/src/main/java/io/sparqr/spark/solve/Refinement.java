/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.solve;

import io.sparqr.spark.engine.JobScope;
import java.util.Arrays;
import java.util.function.UnaryOperator;

/**
 * Steps x += (R'R)^-1 A'(b - Ax) that never make x worse: a step counts only if the residual that
 * is measured after it is no larger than the one before, and if it is shorter than the step before
 * it. Otherwise it is taken back, and this right-hand side is left as it is: where columns are
 * nearly dependent, the steps are rounding errors of R'R. k steps take k + 1 passes and 2 k
 * readings of R.
 */
public final class Refinement {

  /** Residual norms are equal if they differ by no more than this: rounding of the sums. */
  private static final double EQUAL = 1 + 16 * Math.ulp(1.0);

  private final SemiNormalEquations equations;
  private final ResidualPass pass;
  private final UnaryOperator<double[]> basic;
  private int taken;
  private int back;

  /**
   * Refines with the rows of a pass.
   *
   * @param basic moves a solution to the columns that the user's rule keeps
   */
  public Refinement(
      SemiNormalEquations equations, ResidualPass pass, UnaryOperator<double[]> basic) {
    this.equations = equations;
    this.pass = pass;
    this.basic = basic;
  }

  /**
   * Refines solutions in place.
   *
   * @return the sums of the last pass, at the solutions that are left
   */
  public ResidualPass.Sums run(double[][] x, int steps, JobScope scope) {
    scope.describe("residuals, for a step of refinement");
    ResidualPass.Sums sums = pass.measure(x);
    double[] norm = sums.residual().clone();
    double[] ofRows = sums.ofRows().clone();
    double[] length = new double[x.length];
    Arrays.fill(length, Double.POSITIVE_INFINITY);
    boolean[] open = new boolean[x.length];
    Arrays.fill(open, true);
    boolean any = true;
    for (int step = 0; step < steps && any; step++) {
      SemiNormalEquations.Correction dx = equations.correction(sums.gradient(), x.length, scope);
      double[][] before = x.clone();
      for (int k = 0; k < x.length; k++) {
        open[k] &= dx.length()[k] < length[k];
        if (open[k]) {
          x[k] = basic.apply(dx.addedTo(x[k], k));
        }
      }
      scope.describe("residuals, for a step of refinement");
      sums = pass.measure(x);
      any = false;
      for (int k = 0; k < x.length; k++) {
        if (!open[k]) {
          continue;
        }
        if (sums.residual()[k] <= EQUAL * norm[k]) {
          norm[k] = sums.residual()[k];
          ofRows[k] = sums.ofRows()[k];
          // A step that is not half as long as the one before it has reached the rounding errors.
          open[k] = dx.length()[k] < length[k] / 2;
          length[k] = dx.length()[k];
          taken++;
        } else {
          x[k] = before[k];
          open[k] = false;
          back++;
        }
        any |= open[k];
      }
    }
    return new ResidualPass.Sums(
        sums.gradient(), norm, ofRows, sums.rhs(), sums.frobenius(), sums.rows(), sums.width());
  }

  /** Steps that were taken back, over all right-hand sides. */
  public int takenBack() {
    return back;
  }

  /** Steps that count. */
  public int taken() {
    return taken;
  }
}
