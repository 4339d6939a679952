/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.inference;

import java.io.Serializable;

/**
 * The prediction of a fit for a new row a.
 *
 * <p>A class rather than a record, because Kryo, which many Spark installations use, cannot read
 * records.
 */
public final class Prediction implements Serializable {

  private static final long serialVersionUID = 1;

  private final double fit;
  private final double standardError;
  private final double sigma;
  private final double weight;
  private final double degreesOfFreedom;

  Prediction(
      double fit, double standardError, double sigma, double weight, double degreesOfFreedom) {
    this.fit = fit;
    this.standardError = standardError;
    this.sigma = sigma;
    this.weight = weight;
    this.degreesOfFreedom = degreesOfFreedom;
  }

  /** a'x; NaN if a is not estimable, so that the data do not determine it. */
  public double fit() {
    return fit;
  }

  /** sigma sqrt(a'(A'A)^-1 a), for the mean at a. */
  public double standardError() {
    return standardError;
  }

  /** sqrt(standardError^2 + sigma^2 / weight), for an observation at a with the row's weight. */
  public double observationError() {
    return Math.hypot(standardError, sigma / Math.sqrt(weight));
  }

  /** Confidence interval for the mean at a, with a level such as 0.95: lower and upper end. */
  public double[] confidenceInterval(double level) {
    return interval(level, standardError);
  }

  /** Prediction interval for an observation at a with this level: lower and upper end. */
  public double[] predictionInterval(double level) {
    return interval(level, observationError());
  }

  private double[] interval(double level, double error) {
    double half = Distributions.studentQuantile(level, degreesOfFreedom) * error;
    return new double[] {fit - half, fit + half};
  }

  @Override
  public String toString() {
    return "Prediction[fit=" + fit + ", standardError=" + standardError + "]";
  }
}
