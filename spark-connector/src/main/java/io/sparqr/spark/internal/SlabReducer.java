/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.internal;

/**
 * Reduces any number of dense rows of one width to their R, slab by slab: a full slab is replaced by
 * its R (Householder, plain Java), and the next rows go below it.
 */
final class SlabReducer {

  private final int n;
  private final int width;
  private final int lead;
  private final double[] a;
  private final double[] tail;
  private int rows;

  /** For rows of n columns and rhsCount right-hand sides, in a slab of {@code slab} rows. */
  SlabReducer(int n, int rhsCount, int slab) {
    this.n = n;
    this.width = n + rhsCount;
    this.lead = slab;
    this.a = new double[Math.multiplyExact(lead, width)];
    this.tail = new double[rhsCount];
  }

  /** A new zero row at the end. */
  int nextRow() {
    if (rows == lead) {
      reduce();
    }
    return rows++;
  }

  void set(int row, int column, double v) {
    a[column * lead + row] = v;
  }

  double get(int row, int column) {
    return a[column * lead + row];
  }

  /** Reduces what is left; the number of rows of R. */
  int finish() {
    reduce();
    return rows;
  }

  /** 2-norms of the right-hand sides below R. */
  double[] tail() {
    return tail;
  }

  private void reduce() {
    int rank = Math.min(rows, n);
    for (int j = 0; j < rank; j++) {
      eliminate(j);
    }
    for (int k = 0; k < tail.length; k++) {
      int at = (n + k) * lead;
      for (int i = rank; i < rows; i++) {
        tail[k] = Math.hypot(tail[k], a[at + i]);
      }
    }
    for (int c = 0; c < width; c++) {
      int zeroFrom = Math.min(rank, c + 1);
      java.util.Arrays.fill(a, c * lead + zeroFrom, c * lead + rows, 0);
    }
    rows = rank;
  }

  private void eliminate(int j) {
    int at = j * lead;
    double max = 0;
    for (int i = j; i < rows; i++) {
      max = Math.max(max, Math.abs(a[at + i]));
    }
    if (max == 0) {
      return;
    }
    double sum = 0;
    for (int i = j; i < rows; i++) {
      double v = a[at + i] / max;
      sum += v * v;
    }
    double norm = max * Math.sqrt(sum);
    double alpha = a[at + j];
    double beta = alpha > 0 ? -norm : norm;
    double v0 = alpha - beta;
    double tau = -v0 / beta;
    double inverse = 1 / v0;
    for (int i = j + 1; i < rows; i++) {
      a[at + i] *= inverse;
    }
    a[at + j] = beta;
    for (int c = j + 1; c < width; c++) {
      int other = c * lead;
      double dot = a[other + j];
      for (int i = j + 1; i < rows; i++) {
        dot += a[at + i] * a[other + i];
      }
      dot *= tau;
      a[other + j] -= dot;
      for (int i = j + 1; i < rows; i++) {
        a[other + i] -= dot * a[at + i];
      }
    }
  }
}
