/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.gram;

/**
 * How near a matrix with factor R is to F, where H = F'F - R'R is known: the columns of a D with
 * R'D + D'R = H, to first order those of the nearest one.
 *
 * <p>The D of least Frobenius norm is RS with S symmetric, R'RS + SR'R = H; with R = USV' the
 * entries of V'SV are those of V'HV over the sums of two squares of singular values. What roundings
 * leave of H is taken by R^-T H / 2.
 */
final class BackwardError {

  private static final int SWEEPS = 60;

  private BackwardError() {}

  /**
   * D.
   *
   * @param r upper triangular, columns of norm 1
   * @param h symmetric
   */
  static double[][] nearest(double[][] r, double[][] h) {
    int n = r.length;
    double[][] v = rightSingularVectors(r);
    double[][] rv = product(r, v);
    double[] square = new double[n];
    for (int q = 0; q < n; q++) {
      for (int i = 0; i < n; i++) {
        square[q] += rv[i][q] * rv[i][q];
      }
    }
    double[][] s = product(transpose(v), product(h, v));
    for (int p = 0; p < n; p++) {
      for (int q = 0; q < n; q++) {
        s[p][q] /= square[p] + square[q];
      }
    }
    double[][] d = product(rv, product(s, transpose(v)));
    double[][] rd = product(transpose(r), d);
    double[][] left = new double[n][n];
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < n; j++) {
        left[i][j] = h[i][j] - rd[i][j] - rd[j][i];
      }
    }
    for (int j = 0; j < n; j++) {
      double[] x = new double[n];
      for (int i = 0; i < n; i++) {
        double y = left[i][j];
        for (int k = 0; k < i; k++) {
          y -= r[k][i] * x[k];
        }
        x[i] = y / r[i][i];
        d[i][j] += x[i] / 2;
      }
    }
    return d;
  }

  /** Hestenes' method: rotations of columns until they are orthogonal. */
  private static double[][] rightSingularVectors(double[][] r) {
    int n = r.length;
    double[][] a = new double[n][];
    double[][] v = new double[n][n];
    for (int i = 0; i < n; i++) {
      a[i] = r[i].clone();
      v[i][i] = 1;
    }
    boolean rotated = true;
    for (int sweep = 0; rotated && sweep < SWEEPS; sweep++) {
      rotated = false;
      for (int p = 0; p < n; p++) {
        for (int q = p + 1; q < n; q++) {
          double pp = 0;
          double qq = 0;
          double pq = 0;
          for (int i = 0; i < n; i++) {
            pp += a[i][p] * a[i][p];
            qq += a[i][q] * a[i][q];
            pq += a[i][p] * a[i][q];
          }
          if (Math.abs(pq) <= Math.ulp(1.0) * Math.sqrt(pp * qq)) {
            continue;
          }
          rotated = true;
          double z = (qq - pp) / (2 * pq);
          double t = Math.copySign(1, z) / (Math.abs(z) + Math.hypot(1, z));
          double c = 1 / Math.hypot(1, t);
          rotate(a, p, q, c, c * t);
          rotate(v, p, q, c, c * t);
        }
      }
    }
    return v;
  }

  private static void rotate(double[][] a, int p, int q, double c, double s) {
    for (double[] row : a) {
      double x = row[p];
      row[p] = c * x - s * row[q];
      row[q] = s * x + c * row[q];
    }
  }

  private static double[][] transpose(double[][] a) {
    double[][] b = new double[a.length][a.length];
    for (int i = 0; i < a.length; i++) {
      for (int j = 0; j < a.length; j++) {
        b[j][i] = a[i][j];
      }
    }
    return b;
  }

  private static double[][] product(double[][] a, double[][] b) {
    int n = a.length;
    double[][] c = new double[n][n];
    for (int i = 0; i < n; i++) {
      for (int k = 0; k < n; k++) {
        for (int j = 0; j < n; j++) {
          c[i][j] += a[i][k] * b[k][j];
        }
      }
    }
    return c;
  }
}
