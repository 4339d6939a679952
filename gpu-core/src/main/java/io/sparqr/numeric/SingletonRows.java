/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import java.io.Serializable;

/**
 * The rows of the column singletons: [R11 R12], row p of R unchanged from A. Row p has the entries
 * {@code rowStart[p] .. rowStart[p+1]}, positions ascending, the first one p itself.
 *
 * @param rowStart size n1+1
 * @param position size rowStart[n1]
 * @param value size rowStart[n1]
 * @param rhs n1 x rhsCount, row-major
 * @param rhsCount right-hand sides
 */
public record SingletonRows(
    int[] rowStart, int[] position, double[] value, double[] rhs, int rhsCount)
    implements Serializable {

  /** n1. */
  public int count() {
    return rowStart.length - 1;
  }

  /**
   * Positions whose pivot is at most the tolerance in absolute value: such a column is not a
   * singleton numerically (nor is one whose row is missing), and the pattern must be analyzed again
   * with these columns excluded ({@link io.sparqr.symbolic.SymbolicOptions#withNotSingletons}).
   * Ascending; none if the tolerance is negative and no pivot is zero.
   */
  public int[] tinyPivots(double tolerance) {
    double limit = Math.max(tolerance, 0);
    return java.util.stream.IntStream.range(0, count())
        .filter(p -> rowStart[p] == rowStart[p + 1] || Math.abs(value[rowStart[p]]) <= limit)
        .toArray();
  }

  /**
   * Solves R11 x1 = b1 - R12 x2, last row first. O(entries).
   *
   * @param b n1 x width right-hand sides, row-major: {@link #rhs} or others; may be x itself
   * @param x n x width by position, row-major; positions from n1 on are read, those below set
   * @param width right-hand sides to solve for
   */
  public void backSubstitute(double[] b, double[] x, int width) {
    for (int p = count() - 1; p >= 0; p--) {
      int from = rowStart[p];
      for (int q = 0; q < width; q++) {
        double sum = b[p * width + q];
        for (int k = from + 1; k < rowStart[p + 1]; k++) {
          sum -= value[k] * x[position[k] * width + q];
        }
        x[p * width + q] = sum / value[from];
      }
    }
  }

  /**
   * Solves R11' z1 = c1 and subtracts R12' z1 from the rest, first row first. O(entries).
   *
   * @param c n x width by position, row-major: the right-hand side; from n1 on it is updated
   * @param z out: n1 x width, row-major; may be c itself
   * @param width right-hand sides to solve for
   */
  public void forwardSubstitute(double[] c, double[] z, int width) {
    for (int p = 0; p < count(); p++) {
      int from = rowStart[p];
      for (int q = 0; q < width; q++) {
        double zp = c[p * width + q] / value[from];
        z[p * width + q] = zp;
        for (int k = from + 1; k < rowStart[p + 1]; k++) {
          c[position[k] * width + q] -= value[k] * zp;
        }
      }
    }
  }
}
