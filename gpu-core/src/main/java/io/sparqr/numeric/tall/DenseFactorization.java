/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.tall;

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

  /**
   * X of least ||A X - B||, column by column.
   *
   * @param b m x width; overwritten by Q'B
   * @return n x width
   * @throws io.sparqr.error.RankDeficientException if R has a zero on its diagonal
   */
  double[] solve(double[] b, int width);

  /** What the report calls the place. */
  String description();

  @Override
  void close();
}
