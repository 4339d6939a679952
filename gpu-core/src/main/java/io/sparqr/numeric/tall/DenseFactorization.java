/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.tall;

import io.sparqr.error.DimensionMismatchException;
import io.sparqr.error.RankDeficientException;
import java.util.Arrays;

/**
 * A = QR of dense m x n matrices of one size, m at least n, somewhere else than on the heap: on a
 * device. R has a diagonal of at least 0, and there is no rank detection. Arrays are row-major. Of
 * the host's cores the like is {@link io.sparqr.numeric.dense.DenseQr}; the two give other bits, so
 * R and Q have to be one's. For one thread.
 */
public interface DenseFactorization extends AutoCloseable {

  /**
   * Factors a matrix, which takes the place of the one before. 2 m n^2 flops.
   *
   * @param a m x n
   * @throws io.sparqr.error.NonFiniteValueException if a value is, naming row and column
   * @throws io.sparqr.error.DimensionMismatchException if it is not of that size
   * @throws io.sparqr.numeric.integrity.IntegrityFailure if R does not fit what was sent
   */
  void factor(double[] a);

  /**
   * R, n x n, zero below the diagonal, which is at least 0. A copy.
   *
   * @throws IllegalStateException if nothing has been factored
   */
  double[] r();

  /**
   * The first n columns of Q, m x n: orthonormal to rounding, whatever the condition of A. 2 m n^2
   * flops.
   *
   * @throws IllegalStateException if Q was not asked for
   * @throws io.sparqr.error.IndexOverflowException if they do not fit into an array
   */
  double[] thinQ();

  /** All m columns of Q, m x m; as {@link #thinQ}. */
  double[] fullQ();

  /**
   * B := Q'B in place: the first n rows belong to R, the others to the residual. 4 m n flops a
   * column.
   *
   * @param b m x width
   */
  void applyQTransposed(double[] b, int width);

  /** C := Q C in place; as {@link #applyQTransposed}. */
  void applyQ(double[] c, int width);

  /** m. */
  int rows();

  /** n. */
  int columns();

  /**
   * X of least ||A X - B||, column by column.
   *
   * @param b m x width; overwritten by Q'B
   * @return n x width
   * @throws RankDeficientException if R has a zero on its diagonal, or m is less than n
   */
  default double[] solve(double[] b, int width) {
    int n = columns();
    if (rows() < n) {
      throw new RankDeficientException(
          "%d rows cannot determine %d columns".formatted(rows(), n), rows(), n);
    }
    double[] upper = r();
    int zero = -1;
    int rank = n;
    for (int j = n - 1; j >= 0; j--) {
      if (upper[j + j * n] == 0) {
        zero = j;
        rank--;
      }
    }
    if (zero >= 0) {
      throw new RankDeficientException(
          "column %d is a combination of those before it".formatted(zero), rank, n);
    }
    applyQTransposed(b, width);
    double[] x = Arrays.copyOf(b, Math.multiplyExact(n, width));
    for (int j = n - 1; j >= 0; j--) {
      for (int k = 0; k < width; k++) {
        x[j * width + k] /= upper[j + j * n];
      }
      for (int i = 0; i < j; i++) {
        double factor = upper[i * n + j];
        for (int k = 0; k < width; k++) {
          x[i * width + k] = Math.fma(-factor, x[j * width + k], x[i * width + k]);
        }
      }
    }
    return x;
  }

  /**
   * Refuses an array of another size.
   *
   * @throws DimensionMismatchException if it is not m x width
   */
  static void requireSize(double[] values, int rows, int width) {
    if (values.length != (long) rows * width) {
      throw new DimensionMismatchException(
          "%d values, where %d x %d are needed".formatted(values.length, rows, width),
          "values",
          (long) rows * width,
          values.length);
    }
  }

  /** What the report calls the place. */
  String description();

  @Override
  void close();
}
