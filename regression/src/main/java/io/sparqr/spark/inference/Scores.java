/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.inference;

/**
 * Scores e a'Z of rows, with Z columns of (A'A)^-1: the contribution of each row to the
 * coefficients.
 */
final class Scores {

  private final double[] z;
  private final int k;
  private final HcType type;
  private final double[] moved;
  private long ones;

  /**
   * @param z n x k, row-major
   */
  Scores(double[] z, int k, HcType type) {
    this.z = z;
    this.k = k;
    this.type = type;
    this.moved = new double[k];
  }

  /** Adds the score of a row to k values. */
  void add(Observations row, double[] u, int at) {
    double e = row.weightedResidual();
    if (type.needsLeverages()) {
      double h = row.leverage();
      if (1 - h < Influence.LEVERAGE_ONE) {
        one(row);
        return;
      }
      e *= type.factor(h);
    }
    for (int m = 0; m < row.count(); m++) {
      double v = e * row.value()[m];
      int from = row.index()[m] * k;
      for (int c = 0; c < k; c++) {
        u[at + c] += v * z[from + c];
      }
    }
  }

  /** A row of leverage 1: its residual is 0 for any error variance, of which it tells nothing. */
  private void one(Observations row) {
    ones++;
    for (int c = 0; c < k; c++) {
      double sum = 0;
      for (int m = 0; m < row.count(); m++) {
        sum += row.value()[m] * z[row.index()[m] * k + c];
      }
      moved[c] = Math.max(moved[c], Math.abs(sum));
    }
  }

  /** By column the most that a row of leverage 1 moves it. */
  double[] moved() {
    return moved;
  }

  /** Number of rows of leverage 1 so far, if the type divides by 1 - h. */
  long ones() {
    return ones;
  }
}
