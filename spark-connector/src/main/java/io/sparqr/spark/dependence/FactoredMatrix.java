/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.dependence;

import io.sparqr.numeric.SingletonRows;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.resource.JobScope;
import io.sparqr.spark.solve.LevelSolve;

/**
 * A factorized matrix with dependent columns, as the choice among them needs it.
 *
 * @param dead dead columns in R, original indices, ascending
 * @param residualSquares size rhsCount: squares of the least residual norms, in the plan's scale
 */
public record FactoredMatrix(
    SolvePlan plan,
    LevelSolve solve,
    SingletonRows singletons,
    int[] dead,
    double[] residualSquares) {

  /**
   * R's basic solutions for the stored right-hand sides in the plan's scale, by original column of
   * the equilibrated matrix, rhsCount values each. One back substitution.
   */
  double[] solution(JobScope scope) {
    int width = plan.numbers().rhsCount();
    double[] z = plan.vector(width);
    solve.back(z, width, true, scope);
    singletons.backSubstitute(singletons.rhs(), z, width);
    return byColumn(z, width);
  }

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
