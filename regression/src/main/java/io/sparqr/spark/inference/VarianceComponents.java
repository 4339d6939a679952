/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.inference;

import java.io.Serializable;

/**
 * The variance decomposition of a fit with two-way effects (Abowd, Kramarz, Margolis 1999), with
 * weighted moments over the observations (divided by the sum of the weights, without subtracting
 * one).
 *
 * @param plugIn moments of the estimated effects: too large because of the noise of the estimates
 * @param homoscedastic the same minus that noise, assuming equal variances of all errors (Andrews,
 *     Gill, Schank, Upward 2008)
 * @param leaveOut the same minus the noise estimated for each observation, with sigma_i^2 estimated
 *     by (y_i - mean) e_i / (1 - h_i): unbiased for any error variances (Kline, Saggio, Soelvsten
 *     2020, doi:10.3982/ECTA16410)
 */
public record VarianceComponents(Moments plugIn, Moments homoscedastic, Moments leaveOut)
    implements Serializable {

  /**
   * Second moments of the effects.
   *
   * @param worker variance of the workers' effects
   * @param firm variance of the firms' effects
   * @param covariance of both
   */
  public record Moments(double worker, double firm, double covariance) implements Serializable {

    /** Correlation of worker and firm effects; NaN if a variance is not positive. */
    public double correlation() {
      return covariance / Math.sqrt(worker) / Math.sqrt(firm);
    }

    Moments minus(Moments other, double factor) {
      return new Moments(
          worker - factor * other.worker,
          firm - factor * other.firm,
          covariance - factor * other.covariance);
    }
  }
}
