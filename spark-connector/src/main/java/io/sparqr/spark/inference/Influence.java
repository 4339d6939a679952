/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.inference;

import java.io.Serializable;

/**
 * What one observation does to the fit, in the terms of R's {@code influence.measures}. With e = b
 * - a'x, w the weight, h the leverage and p the rank. Where the leverage is 1, the observation
 * alone decides its own fit: its residual is 0, and what divides by 1 - h is NaN, as in R. An
 * observation of weight 0 has no part in the fit: leverage 0, and NaN but for its residual.
 *
 * <p>A class and not a record: Kryo, which many Spark installations use, cannot read records.
 */
public final class Influence implements Serializable {

  private static final long serialVersionUID = 1;

  /** 1 - h of less is 0: h is a sum of squares with rounding errors, times the condition. */
  static final double LEVERAGE_ONE = 1e-10;

  private final double leverage;
  private final double residual;
  private final double standardized;
  private final double studentized;
  private final double cooksDistance;

  private Influence(
      double leverage,
      double residual,
      double standardized,
      double studentized,
      double cooksDistance) {
    this.leverage = leverage;
    this.residual = residual;
    this.standardized = standardized;
    this.studentized = studentized;
    this.cooksDistance = cooksDistance;
  }

  /**
   * Of a fit.
   *
   * @param norm ||sqrt(W)(b - Ax)||
   */
  record Fit(double norm, long freedom, int rank) implements Serializable {

    /** Of an observation of weight 0, which the fit does not know. */
    Influence none(double residual) {
      return new Influence(0, residual, Double.NaN, Double.NaN, Double.NaN);
    }

    Influence of(double leverage, double residual, double weight) {
      double rest = 1 - leverage;
      if (rest < LEVERAGE_ONE) {
        return new Influence(1, residual, Double.NaN, Double.NaN, Double.NaN);
      }
      double sigma = norm / Math.sqrt(freedom);
      double e = Math.sqrt(weight) * residual / Math.sqrt(rest);
      double standardized = e / sigma;
      // without the observation: (norm - |e|)(norm + |e|) = norm^2 - e^2
      double left = Math.max(0, norm - Math.abs(e)) * (norm + Math.abs(e));
      double studentized = freedom > 1 ? e / Math.sqrt(left / (freedom - 1)) : Double.NaN;
      double cook = standardized * standardized * leverage / rest / rank;
      return new Influence(leverage, residual, standardized, studentized, cook);
    }
  }

  /** h = w a'(A'WA)^-1 a, R's {@code hatvalues}: between 0 and 1; 0 for a weight of 0. */
  public double leverage() {
    return leverage;
  }

  /** e. */
  public double residual() {
    return residual;
  }

  /** e sqrt(w) / (sigma sqrt(1 - h)), internally studentized: R's {@code rstandard}. */
  public double standardized() {
    return standardized;
  }

  /** The same with sigma of the fit without this observation: R's {@code rstudent}. */
  public double studentized() {
    return studentized;
  }

  /** standardized^2 h / ((1 - h) p), R's {@code cooks.distance}. */
  public double cooksDistance() {
    return cooksDistance;
  }

  /** e / (1 - h): the residual of the fit without this observation. NaN where h = 1. */
  public double deletedResidual() {
    return leverage == 1 ? Double.NaN : residual / (1 - leverage);
  }

  @Override
  public String toString() {
    return "Influence[leverage=" + leverage + ", residual=" + residual + "]";
  }
}
