/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.gram;

import io.sparqr.numeric.dense.SmallDense;

/** A few vectors, row-major, n x s; matrices of s x s likewise. */
final class SmallBasis {

  private SmallBasis() {}

  /** Gram and Schmidt's method, each vector twice; a vector that vanishes becomes zero. */
  static void orthonormalize(double[] x, int n, int s) {
    for (int q = 0; q < s; q++) {
      double before = column(x, n, s, q);
      for (int k = 0; k < 2; k++) {
        for (int p = 0; p < q; p++) {
          double dot = 0;
          for (int i = 0; i < n; i++) {
            dot += x[i * s + p] * x[i * s + q];
          }
          for (int i = 0; i < n; i++) {
            x[i * s + q] -= dot * x[i * s + p];
          }
        }
      }
      double norm = column(x, n, s, q);
      double scale = norm > 0x1p-40 * before ? 1 / norm : 0;
      for (int i = 0; i < n; i++) {
        x[i * s + q] *= scale;
      }
    }
  }

  private static double column(double[] x, int n, int s, int q) {
    double sum = 0;
    for (int i = 0; i < n; i++) {
      sum += x[i * s + q] * x[i * s + q];
    }
    return Math.sqrt(sum);
  }

  /** x'y. */
  static double[] products(double[] x, double[] y, int n, int s) {
    double[] c = new double[s * s];
    for (int i = 0; i < n; i++) {
      for (int p = 0; p < s; p++) {
        double v = x[i * s + p];
        for (int q = 0; q < s; q++) {
          c[p * s + q] += v * y[i * s + q];
        }
      }
    }
    return c;
  }

  /**
   * Turns orthonormal directions x into those in which R is extreme, the smallest first: the
   * eigenvectors of y'y, y = R^-1 x (Rayleigh and Ritz).
   */
  static void sort(double[] x, double[] y, int n, int s) {
    double[] v = new double[s * s];
    SmallDense.svd(products(y, y, n, s), s, new double[s], v, new double[s * s]);
    double[] row = new double[s];
    for (int i = 0; i < n; i++) {
      System.arraycopy(x, i * s, row, 0, s);
      for (int q = 0; q < s; q++) {
        double sum = 0;
        for (int p = 0; p < s; p++) {
          sum += row[p] * v[p + q * s];
        }
        x[i * s + q] = sum;
      }
    }
  }

  /** Above the diagonal c, on it half of c, else zero. */
  static double[] upper(double[] c, int s) {
    double[] t = new double[s * s];
    for (int p = 0; p < s; p++) {
      t[p * s + p] = c[p * s + p] / 2;
      System.arraycopy(c, p * s + p + 1, t, p * s + p + 1, s - p - 1);
    }
    return t;
  }

  /** x -= y c. */
  static void subtract(double[] x, double[] y, double[] c, int n, int s) {
    for (int i = 0; i < n; i++) {
      for (int p = 0; p < s; p++) {
        double v = y[i * s + p];
        for (int q = 0; q < s; q++) {
          x[i * s + q] -= v * c[p * s + q];
        }
      }
    }
  }

  /** Of all entries. */
  static double norm(double[] x) {
    double sum = 0;
    for (double v : x) {
      sum += v * v;
    }
    return Math.sqrt(sum);
  }

  /** ||y t|| for c = y'y and t a row of x. */
  static double norm(double[] c, double[] x, int row, int s) {
    double sum = 0;
    for (int p = 0; p < s; p++) {
      for (int q = 0; q < s; q++) {
        sum += x[row * s + p] * c[p * s + q] * x[row * s + q];
      }
    }
    return Math.sqrt(Math.max(0, sum));
  }
}
