/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.inference;

import java.io.Serializable;

/**
 * What the data say of one linear combination l'b of the coefficients, beside a hypothesis l'b = c.
 * Where columns depend on others, b is that of the model without the dead ones, as R's {@code lm}
 * has it: a combination of live columns has an estimate there, which {@code estimable} tells to
 * depend on what was left out, or not to.
 *
 * @param estimate l'b - c; NaN, as all that follows, where l has dead columns and is not estimable
 * @param standardError of it
 * @param tValue estimate / standardError
 * @param pValue two-sided, Student's t
 * @param degreesOfFreedom of t
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

  /** Of an estimate and its standard error. */
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
   * Lower and upper end of the confidence interval of l'b - c.
   *
   * @param level such as 0.95
   */
  public double[] confidenceInterval(double level) {
    double half = Distributions.studentQuantile(level, degreesOfFreedom) * standardError;
    return new double[] {estimate - half, estimate + half};
  }
}
