/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

/**
 * Sums of many terms, such as the residual squares of a million fronts, compensated (Neumaier 1974;
 * Higham, Accuracy and Stability, 2nd ed., section 4.3), because rounding errors of equal terms all
 * have one sign. The error is 2 eps of the sum and O(terms eps^2) of the sum of absolute values.
 * Not thread-safe.
 */
public final class CompensatedSums {

  private final double[] high;
  private final double[] low;

  /** Starts at zero. */
  public CompensatedSums(int count) {
    high = new double[count];
    low = new double[count];
  }

  /** Adds a term to each sum: terms[from .. from + count). */
  public void add(double[] terms, int from) {
    for (int k = 0; k < high.length; k++) {
      double s = high[k];
      double x = terms[from + k];
      double t = s + x;
      // Knuth's two-sum, which needs no ordering by magnitude.
      double z = t - s;
      low[k] += (s - (t - z)) + (x - z);
      high[k] = t;
    }
  }

  /** The sums. An overflow gives infinity, as without compensation. */
  public double[] values() {
    double[] sums = new double[high.length];
    for (int k = 0; k < sums.length; k++) {
      sums[k] = Double.isFinite(high[k]) ? high[k] + low[k] : high[k];
    }
    return sums;
  }
}
