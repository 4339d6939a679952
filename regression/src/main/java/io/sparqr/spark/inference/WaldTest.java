/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.inference;

import java.io.Serializable;

/**
 * The joint test of L b = c: Wald's statistic W = (Lb - c)' (L V L')^-1 (Lb - c), and F = W / q.
 *
 * @param f F
 * @param numeratorFreedom q, the number of contrasts
 * @param denominatorFreedom of the residual, or number of clusters - 1
 * @param pValue P(F_q,d > f)
 * @param chiSquared W
 * @param chiSquaredPValue P(chi squared_q > W), the limit for very many observations
 */
public record WaldTest(
    double f,
    int numeratorFreedom,
    double denominatorFreedom,
    double pValue,
    double chiSquared,
    double chiSquaredPValue)
    implements Serializable {

  /**
   * c'(W'W)^-1 c, without the square of W's condition number and for any condition of W; NaN if a
   * column is exactly a combination of others.
   *
   * @param columns columns of W, which are overwritten
   */
  public static double quadraticForm(double[][] columns, double[] c) {
    return Gram.ofRoot(columns, c, 0);
  }

  static WaldTest of(double wald, int q, double denominator) {
    return new WaldTest(
        wald / q,
        q,
        denominator,
        Distributions.upperF(wald / q, q, denominator),
        wald,
        Distributions.upperChiSquared(wald, q));
  }
}
