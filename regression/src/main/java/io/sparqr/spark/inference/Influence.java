/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.inference;

import java.io.Serializable;

/**
 * The influence of one observation on the fit, with the measures of R's {@code influence.measures}:
 * e = b - a'x, w the weight, h the leverage and p the rank. If the leverage is 1, the observation
 * alone determines its fitted value: its residual is 0, and quotients with 1 - h are NaN, as in R.
 * An observation of weight 0 does not take part in the fit: its leverage is 0, its deleted residual
 * equals its residual, and the other measures are NaN.
 *
 * <p>A class rather than a record, because Kryo, which many Spark installations use, cannot read
 * records.
 */
public final class Influence implements Serializable {

  private static final long serialVersionUID = 1;

  /**
   * Smaller values of 1 - h count as 0, because h is a sum of squares with rounding errors that
   * grow with the condition number.
   */
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
   * Figures of a fit.
   *
   * @param norm ||sqrt(W)(b - Ax)||
   */
  record Fit(double norm, long freedom, int rank) implements Serializable {

    /** The influence of an observation of weight 0. */
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
      // Without the observation: (norm - |e|)(norm + |e|) = norm^2 - e^2.
      double left = Math.max(0, norm - Math.abs(e)) * (norm + Math.abs(e));
      double studentized = freedom > 1 ? e / Math.sqrt(left / (freedom - 1)) : Double.NaN;
      double cook = standardized * standardized * leverage / rest / rank;
      return new Influence(leverage, residual, standardized, studentized, cook);
    }
  }

  /** h = w a'(A'WA)^-1 a, R's {@code hatvalues}: between 0 and 1; 0 if the weight is 0. */
  public double leverage() {
    return leverage;
  }

  /** The residual b - a'x of the row, not weighted. */
  public double residual() {
    return residual;
  }

  /** e sqrt(w) / (sigma sqrt(1 - h)), internally studentized: R's {@code rstandard}. */
  public double standardized() {
    return standardized;
  }

  /** As above, with sigma from the fit without this observation: R's {@code rstudent}. */
  public double studentized() {
    return studentized;
  }

  /** standardized^2 h / ((1 - h) p), R's {@code cooks.distance}. */
  public double cooksDistance() {
    return cooksDistance;
  }

  /** e / (1 - h): the residual of the fit without this observation. NaN if h = 1. */
  public double deletedResidual() {
    return leverage == 1 ? Double.NaN : residual / (1 - leverage);
  }

  @Override
  public String toString() {
    return "Influence[leverage=" + leverage + ", residual=" + residual + "]";
  }
}
