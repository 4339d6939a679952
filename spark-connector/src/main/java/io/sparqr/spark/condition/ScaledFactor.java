/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.condition;

import io.sparqr.numeric.SingletonRows;
import io.sparqr.spark.engine.JobScope;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.solve.LevelSolve;

/**
 * R with columns of norm 1: R as factored, or R D^-1 if the columns were not equilibrated, D their
 * norms. Singleton rows included; dependent columns are left out, vectors are 0 there. Vectors are
 * by position, width values each.
 */
public final class ScaledFactor {

  private final SolvePlan plan;
  private final LevelSolve levels;
  private final SingletonRows singletons;
  private final ColumnSizes sizes;
  private final JobScope scope;

  /** Solves with the R of the levels and of the singleton rows. */
  public ScaledFactor(
      SolvePlan plan,
      LevelSolve levels,
      SingletonRows singletons,
      ColumnSizes sizes,
      JobScope scope) {
    this.plan = plan;
    this.levels = levels;
    this.singletons = singletons;
    this.sizes = sizes;
    this.scope = scope;
  }

  /** Zeros for this many vectors. */
  double[] vectors(int width) {
    return plan.vector(width);
  }

  /** v becomes R^-T v. A reading of R. */
  void inverseTransposed(double[] v, int width) {
    sizes.scale(plan, v, width);
    singletons.forwardSubstitute(v, v, width);
    levels.forward(v, width, scope);
  }

  /** v becomes R^-1 v. A reading of R. */
  void inverse(double[] v, int width) {
    levels.back(v, width, scope);
    singletons.backSubstitute(v, v, width);
    sizes.scale(plan, v, width);
  }
}
