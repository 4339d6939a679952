/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factorization;

import io.sparqr.numeric.SingletonRows;
import io.sparqr.spark.dependence.MovedErrors;
import io.sparqr.spark.engine.JobScope;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.solve.LevelSolve;
import io.sparqr.spark.solve.Norms;

/** Solves with R'R and R' by original column, all columns equilibrated. */
record NormalSolves(SolvePlan plan, LevelSolve levels, SingletonRows singletons, JobScope scope)
    implements MovedErrors.Normal {

  @Override
  public double[] solve(double[] g, int width) {
    double[] c = forward(g, width);
    levels.back(c, width, scope);
    singletons.backSubstitute(c, c, width);
    double[] y = plan.vector(width);
    for (int p = 0; p < y.length / width; p++) {
      int j = plan.analysis().permutation().original(p);
      System.arraycopy(c, p * width, y, j * width, width);
    }
    return y;
  }

  @Override
  public double[] norms(double[] p, int width) {
    double[] c = forward(p, width);
    double[] norm = new double[width];
    for (int k = 0; k < width; k++) {
      norm[k] = Norms.norm(c, k, c.length / width, width);
    }
    return norm;
  }

  /** R^-T g by position. */
  private double[] forward(double[] g, int width) {
    double[] c = plan.vector(width);
    for (int p = 0; p < c.length / width; p++) {
      int j = plan.analysis().permutation().original(p);
      System.arraycopy(g, j * width, c, p * width, width);
    }
    singletons.forwardSubstitute(c, c, width);
    levels.forward(c, width, scope);
    return c;
  }
}
