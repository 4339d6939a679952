/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.integrity;

import java.util.Arrays;

/**
 * For a dense matrix A and a vector u of fixed numbers of random signs: of each column its square,
 * and its product with the probes t = A u. An orthogonal transformation keeps them all, within the
 * bounds of {@link Balance}; here the columns have any norms, and so departures of products are
 * relative to ||a_j|| (||t|| + (sum of u_j^2 ||a_j||^2)^(1/2)).
 *
 * @param square by column
 * @param probe by column
 */
public record DenseSums(double[] square, double[] probe) {

  /** Rows summed without compensation. */
  private static final int TOGETHER = 256;

  /** The vector u: entries from 1/4 to 1/2 of either sign. */
  public static double[] signs(int columns) {
    double[] u = new double[columns];
    for (int j = 0; j < columns; j++) {
      u[j] = ColumnProbe.scale(j, 1);
    }
    return u;
  }

  /**
   * Of a matrix of the host. 4 n flops a row.
   *
   * @param a rows x columns, row-major
   */
  public static DenseSums of(double[] a, int rows, int columns) {
    double[] u = signs(columns);
    var sums = new ColumnSums(columns);
    double[] row = new double[columns];
    double[] squares = new double[columns];
    double[] products = new double[columns];
    for (int i = 0; i < rows; i++) {
      // The JVM vectorizes loops over arrays from their beginning.
      System.arraycopy(a, i * columns, row, 0, columns);
      addSquares(row, squares);
      addProducts(row, dot(row, u), products);
      if ((i + 1) % TOGETHER == 0 || i == rows - 1) {
        for (int j = 0; j < columns; j++) {
          sums.add(j, squares[j], products[j]);
          squares[j] = 0;
          products[j] = 0;
        }
      }
    }
    double[] square = new double[columns];
    double[] probe = new double[columns];
    for (int j = 0; j < columns; j++) {
      square[j] = sums.squares(j);
      probe[j] = sums.probe(j);
    }
    return new DenseSums(square, probe);
  }

  private static double dot(double[] a, double[] b) {
    double sum = 0;
    for (int j = 0; j < a.length; j++) {
      sum += a[j] * b[j];
    }
    return sum;
  }

  private static void addSquares(double[] row, double[] to) {
    for (int j = 0; j < to.length; j++) {
      to[j] += row[j] * row[j];
    }
  }

  private static void addProducts(double[] row, double t, double[] to) {
    for (int j = 0; j < to.length; j++) {
      to[j] += row[j] * t;
    }
  }

  /** Of the first columns of the identity. */
  public static DenseSums ofIdentity(int columns) {
    double[] square = new double[columns];
    Arrays.fill(square, 1);
    return new DenseSums(square, signs(columns));
  }

  /**
   * The largest relative departure of a transformed matrix' sums from these; NaN if a sum is NaN.
   */
  public double departure(DenseSums other) {
    double all = 0;
    double probes = 0;
    double[] u = signs(square.length);
    for (int j = 0; j < u.length; j++) {
      all += u[j] * u[j] * square[j];
      // t't = sum of u_j a_j't
      probes += u[j] * probe[j];
    }
    double weight = Math.sqrt(Math.max(0, probes)) + Math.sqrt(all);
    double worst = 0;
    for (int j = 0; j < u.length; j++) {
      double norm = Math.sqrt(square[j]);
      double squares = Math.abs(other.square[j] - square[j]);
      double products = Math.abs(other.probe[j] - probe[j]);
      // A column of zeros stays one.
      double off =
          norm == 0 ? squares : Math.max(squares / (norm * norm), products / (norm * weight));
      worst = Math.max(worst, off);
    }
    return worst;
  }

  /**
   * Refuses a departure that rounding does not explain.
   *
   * @param steps reflectors that a column passes through ({@link Steps#ofFront})
   * @param what was compared
   * @throws IntegrityFailure if it is too large or NaN
   */
  public static void require(double departure, long steps, String what) {
    if (!Balance.within(departure, steps)) {
      throw new IntegrityFailure(
          "%s: sums of columns depart by %.2g, where rounding explains %.2g"
              .formatted(what, departure, Balance.bound(steps)));
    }
  }
}
