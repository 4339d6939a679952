/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.condition;

import io.sparqr.spark.plan.SolvePlan;
import java.util.Optional;

/**
 * Norms of the columns, in the units of R and in those of the caller. Equilibrated columns have
 * norm 1 in R.
 *
 * @param ofCaller size n, by original column, the ridge's rows included; empty if R's columns are
 *     equilibrated, or the norms are not known any more
 */
public record ColumnSizes(Optional<double[]> ofCaller) {

  /** The sizes of equilibrated columns: all are 1. */
  public static final ColumnSizes UNIT = new ColumnSizes(Optional.empty());

  /** |x_j| ||a_j||, for x in the caller's units. */
  double share(SolvePlan plan, int j, double x) {
    return Math.abs(ofCaller.isEmpty() ? plan.unscaled(j, x) : x * ofCaller.get()[j]);
  }

  /** Divides vectors by position, of R's columns, by the norms of these. O(n width). */
  void unscale(SolvePlan plan, double[] v, int width) {
    if (ofCaller.isEmpty()) {
      return;
    }
    for (int p = 0; p < plan.analysis().columns(); p++) {
      double norm = ofCaller.get()[plan.analysis().permutation().original(p)];
      for (int k = 0; k < width && norm > 0; k++) {
        v[p * width + k] /= norm;
      }
    }
  }

  /** Multiplies vectors by position with the norms of R's columns. O(n width). */
  public void scale(SolvePlan plan, double[] v, int width) {
    if (ofCaller.isEmpty()) {
      return;
    }
    for (int p = 0; p < plan.analysis().columns(); p++) {
      double norm = ofCaller.get()[plan.analysis().permutation().original(p)];
      for (int k = 0; k < width; k++) {
        v[p * width + k] *= norm;
      }
    }
  }
}
