/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.dependence;

import io.sparqr.numeric.SingletonRows;
import io.sparqr.spark.engine.JobScope;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.solve.LevelSolve;
import io.sparqr.spark.solve.Norms;
import java.util.function.Function;

/**
 * A factorized matrix with dependent columns, as the choice among them needs it.
 *
 * @param dead dead columns in R, original indices, ascending
 * @param tail least residual norm of each right-hand side
 * @param solutions R's basic solution for each right-hand side, in the caller's units; asked for
 *     only where columns are nearly dependent
 */
public record FactoredMatrix(
    SolvePlan plan,
    LevelSolve solve,
    SingletonRows singletons,
    int[] dead,
    double[] tail,
    Function<JobScope, double[][]> solutions) {

  /** Columns for a bound of ||b||. */
  private static final int SAMPLE = 16;

  /**
   * Vectors of the null space, by original column of the equilibrated matrix.
   *
   * @param z by position, width values each: the values at the dead columns, 0 elsewhere;
   *     overwritten
   */
  double[] homogeneous(double[] z, int width, JobScope scope) {
    solve.homogeneous(z, width, scope);
    singletons.backSubstitute(z, z, width);
    return byColumn(z, width);
  }

  /**
   * Lower bounds of ||b||: |x_j| is at most ||R^-T e_j|| ||Q'b||, for a few columns j. One forward
   * substitution.
   *
   * @param x R's basic solutions for equilibrated columns
   */
  double[] leastNorms(double[][] x, JobScope scope) {
    int n = plan.analysis().columns();
    int width = Math.min(SAMPLE, n);
    double[] c = plan.vector(width);
    for (int k = 0; k < width; k++) {
      c[plan.position((int) ((long) k * n / width)) * width + k] = 1;
    }
    singletons.forwardSubstitute(c, c, width);
    solve.forward(c, width, scope);
    double[] norm = tail.clone();
    for (int k = 0; k < width; k++) {
      double error = Norms.norm(c, k, n, width);
      for (int r = 0; r < x.length && error > 0; r++) {
        norm[r] = Math.max(norm[r], Math.abs(x[r][(int) ((long) k * n / width)]) / error);
      }
    }
    return norm;
  }

  /** From positions to original columns, width values each. */
  private double[] byColumn(double[] z, int width) {
    double[] x = new double[z.length];
    for (int p = 0; p < z.length / width; p++) {
      int j = plan.analysis().permutation().original(p);
      System.arraycopy(z, p * width, x, j * width, width);
    }
    return x;
  }
}
