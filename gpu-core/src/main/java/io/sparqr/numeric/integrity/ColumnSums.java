/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.integrity;

/**
 * Two sums per column over some rows: of the squares of its entries, and of entry times probe. Kept
 * compensated (Neumaier 1974; Higham, Accuracy and Stability, 2nd ed., section 4.3): the error is 2
 * eps of the sum and O(terms eps^2) of the sum of absolute values. Not thread-safe.
 */
public final class ColumnSums {

  /** Four per column: squares and their rounding error, probe and its rounding error. */
  private final double[] sum;

  /** Starts at zero. */
  public ColumnSums(int columns) {
    sum = new double[Math.multiplyExact(4, columns)];
  }

  /** Number of columns, right-hand sides included. */
  public int columns() {
    return sum.length / 4;
  }

  /** Adds to column j's sums. */
  public void add(int j, double squares, double probe) {
    add(4 * j, squares);
    add(4 * j + 2, probe);
  }

  /** Adds to column j's sums the squares of entries, and each entry times t of its row. */
  void addColumn(int j, double[] entry, double[] t, int count) {
    double squares = sum[4 * j];
    double squaresLow = sum[4 * j + 1];
    double probe = sum[4 * j + 2];
    double probeLow = sum[4 * j + 3];
    for (int i = 0; i < count; i++) {
      double x = entry[i] * entry[i];
      double s = squares + x;
      squaresLow += error(squares, x, s);
      squares = s;
      x = entry[i] * t[i];
      s = probe + x;
      probeLow += error(probe, x, s);
      probe = s;
    }
    sum[4 * j] = squares;
    sum[4 * j + 1] = squaresLow;
    sum[4 * j + 2] = probe;
    sum[4 * j + 3] = probeLow;
  }

  private void add(int at, double x) {
    double s = sum[at];
    double t = s + x;
    sum[at + 1] += error(s, x, t);
    sum[at] = t;
  }

  /** The rounding error of t = s + x for any order of magnitudes (Knuth). */
  private static double error(double s, double x, double t) {
    double z = t - s;
    return (s - (t - z)) + (x - z);
  }

  /** Multiplies column j's sums; exact for powers of two. */
  public void scale(int j, double squares, double probe) {
    sum[4 * j] *= squares;
    sum[4 * j + 1] *= squares;
    sum[4 * j + 2] *= probe;
    sum[4 * j + 3] *= probe;
  }

  /** Sum of squares of column j. */
  public double squares(int j) {
    return sum[4 * j] + sum[4 * j + 1];
  }

  /** Sum of entries times probe of column j. */
  public double probe(int j) {
    return sum[4 * j + 2] + sum[4 * j + 3];
  }
}
