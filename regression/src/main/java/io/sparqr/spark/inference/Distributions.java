/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.inference;

import org.apache.commons.math3.distribution.NormalDistribution;
import org.apache.commons.math3.distribution.TDistribution;
import org.apache.commons.math3.special.Beta;
import org.apache.commons.math3.special.Gamma;

/**
 * Tail probabilities, each computed directly rather than as 1 - p; NaN for NaN or without degrees
 * of freedom.
 */
final class Distributions {

  private Distributions() {}

  /** P(|T| > |t|) of Student's t. */
  static double studentTwoSided(double t, double freedom) {
    if (Double.isNaN(t) || !(freedom > 0)) {
      return Double.NaN;
    }
    return Double.isInfinite(t) ? 0 : upperF(t * t, 1, freedom);
  }

  /** P(F > f) of F with these degrees of freedom; the second may be infinite. */
  static double upperF(double f, double numerator, double denominator) {
    if (Double.isNaN(f) || !(numerator > 0) || !(denominator > 0)) {
      return Double.NaN;
    }
    if (f <= 0) {
      return 1;
    }
    if (Double.isInfinite(denominator)) {
      return upperChiSquared(f * numerator, numerator);
    }
    // denominator / (denominator + numerator f) without overflow.
    double x = 1 / (1 + numerator / denominator * f);
    return Beta.regularizedBeta(x, denominator / 2, numerator / 2);
  }

  /** P(X > x) of chi squared. */
  static double upperChiSquared(double x, double freedom) {
    if (Double.isNaN(x) || !(freedom > 0)) {
      return Double.NaN;
    }
    return x <= 0 ? 1 : Gamma.regularizedGammaQ(freedom / 2, x / 2);
  }

  /**
   * t with P(|T| <= t) = level.
   *
   * @throws IllegalArgumentException if level is not in (0, 1)
   */
  static double studentQuantile(double level, double freedom) {
    if (!(level > 0 && level < 1)) {
      throw new IllegalArgumentException("confidence level " + level + " is not within (0, 1)");
    }
    if (!(freedom > 0)) {
      return Double.NaN;
    }
    // Without a random generator, because nothing is sampled.
    double upper = 0.5 + level / 2;
    if (Double.isInfinite(freedom)) {
      return new NormalDistribution(null, 0, 1).inverseCumulativeProbability(upper);
    }
    var student = new TDistribution(null, freedom);
    // Accurate to 1e-9; one or two Newton steps give full accuracy.
    double t = student.inverseCumulativeProbability(upper);
    for (int step = 0; step < 2 && t > 0; step++) {
      t += (studentTwoSided(t, freedom) - (1 - level)) / (2 * student.density(t));
    }
    return t;
  }
}
