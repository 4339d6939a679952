/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.condition;

import io.sparqr.spark.solve.Norms;

/**
 * V = Q T for a tall V, by modified Gram-Schmidt with a second pass, which makes Q orthonormal to
 * rounding whatever the sizes of V's columns (Giraud, Langou and Rozloznik 2005, Comput. Math.
 * Appl. 50).
 */
final class Orthonormal {

  private Orthonormal() {}

  /**
   * V becomes Q. 4 n width^2 flops.
   *
   * @param v n x width, row-major
   * @return T, width x width; a column that depends on those before it is 0 in Q
   */
  static double[][] of(double[] v, int width) {
    int n = v.length / width;
    double[][] t = new double[width][width];
    for (int k = 0; k < width; k++) {
      double before = Norms.norm(v, k, n, width);
      if (before > 0) {
        // In range, so that no product overflows.
        scale(v, k, width, 1 / before);
      }
      for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < k; i++) {
          double dot = dot(v, i, k, width);
          subtract(v, i, k, width, dot);
          t[i][k] += dot * before;
        }
      }
      double left = Norms.norm(v, k, n, width);
      boolean dependent = left <= n * Math.ulp(1.0);
      t[k][k] = dependent ? 0 : left * before;
      scale(v, k, width, dependent ? 0 : 1 / left);
    }
    return t;
  }

  private static double dot(double[] v, int i, int k, int width) {
    double sum = 0;
    for (int at = 0; at < v.length; at += width) {
      sum += v[at + i] * v[at + k];
    }
    return sum;
  }

  private static void subtract(double[] v, int i, int k, int width, double factor) {
    for (int at = 0; at < v.length; at += width) {
      v[at + k] -= factor * v[at + i];
    }
  }

  private static void scale(double[] v, int k, int width, double factor) {
    for (int at = k; at < v.length; at += width) {
      v[at] *= factor;
    }
  }

  /** V becomes V M. O(n width^2). */
  static void times(double[] v, int width, double[][] m) {
    double[] row = new double[width];
    for (int at = 0; at < v.length; at += width) {
      System.arraycopy(v, at, row, 0, width);
      for (int k = 0; k < width; k++) {
        double sum = 0;
        for (int i = 0; i < width; i++) {
          sum += row[i] * m[i][k];
        }
        v[at + k] = sum;
      }
    }
  }
}
