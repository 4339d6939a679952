/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.inference;

import java.io.Serializable;

/**
 * The estimate of a linear combination l'b of the coefficients, and a test of the hypothesis l'b =
 * c. If columns depend on others, b is that of the model without the dependent ones, as in R's
 * {@code lm}: a combination of independent columns has an estimate in that model, and {@code
 * estimable} is false if it depends on the choice of the dependent columns.
 *
 * @param estimate l'b - c; NaN, like all the following, if l has dependent columns and is not
 *     estimable
 * @param standardError standard error of the estimate
 * @param tValue estimate / standardError
 * @param pValue two-sided, Student's t
 * @param degreesOfFreedom degrees of freedom of t
 * @param estimable whether all least-squares solutions have the same l'b
 */
public record ContrastTest(
    double estimate,
    double standardError,
    double tValue,
    double pValue,
    double degreesOfFreedom,
    boolean estimable)
    implements Serializable {

  /** The test for an estimate and its standard error. */
  static ContrastTest of(double estimate, double error, double freedom, boolean estimable) {
    double t = estimate / error;
    return new ContrastTest(
        estimate, error, t, Distributions.studentTwoSided(t, freedom), freedom, estimable);
  }

  /**
   * Student's t with P(|T| <= t) = level; NaN without degrees of freedom.
   *
   * @throws IllegalArgumentException if level is not within (0, 1)
   */
  public static double criticalValue(double level, double freedom) {
    return Distributions.studentQuantile(level, freedom);
  }

  /**
   * Lower and upper end of the confidence interval for l'b - c.
   *
   * @param level such as 0.95
   */
  public double[] confidenceInterval(double level) {
    double half = Distributions.studentQuantile(level, degreesOfFreedom) * standardError;
    return new double[] {estimate - half, estimate + half};
  }
}
