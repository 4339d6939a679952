/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.inference;

/**
 * Heteroscedasticity-consistent covariances (White 1980; MacKinnon and White 1985), each as in R's
 * {@code sandwich::vcovHC}: the weight of the square of a residual e, with h the row's leverage.
 */
public enum HcType {
  /** White's: the squared residuals e^2. */
  HC0,
  /** e^2 n / (n - p), n observations and rank p: Stata's default. */
  HC1,
  /** e^2 / (1 - h), h the row's leverage: unbiased if the variances are equal. */
  HC2,
  /** e^2 / (1 - h)^2, close to the jackknife. */
  HC3;

  boolean needsLeverages() {
    return this == HC2 || this == HC3;
  }

  /** The factor of e for a row of a leverage below 1. */
  double factor(double leverage) {
    double rest = 1 - leverage;
    return switch (this) {
      case HC0, HC1 -> 1;
      case HC2 -> 1 / Math.sqrt(rest);
      case HC3 -> 1 / rest;
    };
  }
}
