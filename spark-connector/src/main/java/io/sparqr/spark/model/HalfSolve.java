/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.model;

/**
 * W = R^-T U for some vectors u_k, the columns of U: W'W = U'(A'A)^-1 U over the independent
 * columns, so that covariances of linear combinations are products of columns of W, and a variance
 * is a sum of squares.
 *
 * @param width number of vectors
 * @param values n x width, row-major; rows in the order of R's rows, 0 for dependent columns
 * @param estimable size width: whether u_k is a combination of the rows of A, so that u_k'x is the
 *     same for all solutions x; always true if no column is dependent
 */
public record HalfSolve(int width, double[] values, boolean[] estimable) {

  /** ||w_k|| = sqrt(u_k'(A'A)^-1 u_k). */
  public double norm(int k) {
    double norm = 0;
    double scale = 0;
    for (int i = k; i < values.length; i += width) {
      scale = Math.max(scale, Math.abs(values[i]));
    }
    for (int i = k; i < values.length && scale > 0; i += width) {
      norm += values[i] / scale * (values[i] / scale);
    }
    return scale * Math.sqrt(norm);
  }

  /** The inner product of columns k and l. */
  public double product(int k, int l) {
    double sum = 0;
    for (int i = 0; i < values.length; i += width) {
      sum += values[i + k] * values[i + l];
    }
    return sum;
  }

  /** The size only, because there may be many entries. */
  @Override
  public String toString() {
    return "HalfSolve[%,d x %d]".formatted(width == 0 ? 0 : values.length / width, width);
  }

  /** A copy of column k, size n. */
  public double[] column(int k) {
    double[] w = new double[values.length / width];
    for (int i = 0; i < w.length; i++) {
      w[i] = values[i * width + k];
    }
    return w;
  }
}
