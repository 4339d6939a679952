/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.condition;

import java.util.Arrays;
import java.util.function.IntUnaryOperator;

/**
 * The columns to leave out of a nearly singular matrix, one for each vector of its null space, such
 * that the others are as independent as the null space lets them be: the pivots of a QR
 * factorization with column pivoting of V' (Golub, Klema and Stewart 1976, Stanford report
 * STAN-CS-76-559; Golub and Van Loan 2013, section 5.5.7).
 */
final class ColumnSubset {

  /** Of the columns whose remaining norm is at least this fraction of the largest, the last. */
  private static final double NEARLY_LARGEST = 0.5;

  private ColumnSubset() {}

  /**
   * Chooses.
   *
   * @param v n x width by position, row-major: orthonormal columns
   * @param count leading columns of v in use; as many columns are chosen
   * @param original the caller's number of a position: of nearly equal choices the last column
   * @return positions, in the order of the choice. O(n count^2)
   */
  static int[] of(double[] v, int width, int count, IntUnaryOperator original) {
    int n = v.length / width;
    double[][] rest = new double[count][n];
    for (int k = 0; k < count; k++) {
      for (int p = 0; p < n; p++) {
        rest[k][p] = v[p * width + k];
      }
    }
    int[] chosen = new int[count];
    double[] direction = new double[count];
    for (int c = 0; c < count; c++) {
      double[] square = squares(rest, n);
      chosen[c] = choice(square, original);
      double norm = Math.sqrt(square[chosen[c]]);
      for (int k = 0; k < count; k++) {
        direction[k] = norm == 0 ? 0 : rest[k][chosen[c]] / norm;
      }
      remove(rest, direction, n);
    }
    return chosen;
  }

  private static double[] squares(double[][] rest, int n) {
    double[] square = new double[n];
    for (double[] one : rest) {
      for (int p = 0; p < n; p++) {
        square[p] += one[p] * one[p];
      }
    }
    return square;
  }

  private static int choice(double[] square, IntUnaryOperator original) {
    double most = Arrays.stream(square).max().orElse(0);
    int best = -1;
    for (int p = 0; p < square.length; p++) {
      if (square[p] >= NEARLY_LARGEST * NEARLY_LARGEST * most
          && (best < 0 || original.applyAsInt(p) > original.applyAsInt(best))) {
        best = p;
      }
    }
    return best;
  }

  /** Takes the part along a direction out of every position's values. */
  private static void remove(double[][] rest, double[] direction, int n) {
    for (int p = 0; p < n; p++) {
      double dot = 0;
      for (int k = 0; k < direction.length; k++) {
        dot += rest[k][p] * direction[k];
      }
      for (int k = 0; k < direction.length; k++) {
        rest[k][p] -= dot * direction[k];
      }
    }
  }
}
