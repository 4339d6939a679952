/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.inference;

/**
 * Eigenvalues and vectors of a small symmetric matrix by cyclic Jacobi rotations (Golub and Van
 * Loan 2013, Matrix Computations, section 8.5). Variances of coefficients in different units make
 * graded matrices, entries from 1e-12 to 1 in one of them: rotations keep the digits of the small
 * ones, which a reduction to tridiagonal form loses (Demmel and Veselic 1992). O(n^3) a sweep, some
 * five to ten sweeps.
 */
final class JacobiEigen {

  private static final int SWEEPS = 60;

  private final double[][] a;
  private final double[][] vectors;

  /**
   * @param matrix symmetric; overwritten
   */
  JacobiEigen(double[][] matrix) {
    a = matrix;
    vectors = new double[a.length][a.length];
    for (int i = 0; i < a.length; i++) {
      vectors[i][i] = 1;
    }
    boolean more = true;
    for (int sweep = 0; more && sweep < SWEEPS; sweep++) {
      more = false;
      for (int p = 0; p < a.length; p++) {
        for (int q = p + 1; q < a.length; q++) {
          more |= rotate(p, q);
        }
      }
    }
  }

  /** Makes an entry zero; false if it is negligible beside the diagonal. */
  private boolean rotate(int p, int q) {
    double size = Math.sqrt(Math.abs(a[p][p])) * Math.sqrt(Math.abs(a[q][q]));
    double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
    if (Math.abs(a[p][q]) <= Math.ulp(1.0) / 4 * size || !Double.isFinite(theta)) {
      return false;
    }
    double t = Math.copySign(1 / (Math.abs(theta) + Math.hypot(theta, 1)), theta);
    double c = 1 / Math.hypot(t, 1);
    double s = t * c;
    double move = t * a[p][q];
    a[p][p] -= move;
    a[q][q] += move;
    a[p][q] = 0;
    a[q][p] = 0;
    for (int k = 0; k < a.length; k++) {
      if (k != p && k != q) {
        double x = a[k][p];
        double y = a[k][q];
        a[k][p] = c * x - s * y;
        a[k][q] = s * x + c * y;
        a[p][k] = a[k][p];
        a[q][k] = a[k][q];
      }
      double x = vectors[k][p];
      double y = vectors[k][q];
      vectors[k][p] = c * x - s * y;
      vectors[k][q] = s * x + c * y;
    }
    return true;
  }

  /** The matrix with its negative eigenvalues at zero. */
  double[][] withoutNegative() {
    int n = a.length;
    double[][] sum = new double[n][n];
    for (int e = 0; e < n; e++) {
      for (int i = 0; a[e][e] > 0 && i < n; i++) {
        for (int j = 0; j <= i; j++) {
          sum[i][j] += vectors[i][e] * a[e][e] * vectors[j][e];
        }
      }
    }
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < i; j++) {
        sum[j][i] = sum[i][j];
      }
    }
    return sum;
  }
}
