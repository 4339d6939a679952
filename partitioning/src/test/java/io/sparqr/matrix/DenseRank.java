/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.matrix;

import io.sparqr.sparse.CsrMatrix;

/** Rank of a small matrix by Gaussian elimination with complete pivoting, relative tolerance. */
public final class DenseRank {

  private DenseRank() {}

  public static int of(CsrMatrix a) {
    int m = a.rows();
    int n = a.columns();
    double[][] w = new double[m][n];
    double largest = 0;
    for (int i = 0; i < m; i++) {
      for (int k = a.rowStart()[i]; k < a.rowStart()[i + 1]; k++) {
        w[i][a.columnIndex()[k]] = a.values()[k];
        largest = Math.max(largest, Math.abs(a.values()[k]));
      }
    }
    double tolerance = 100 * Math.ulp(1.0) * Math.max(m, n) * largest;
    for (int r = 0; ; r++) {
      int pi = -1;
      int pj = -1;
      double pivot = tolerance;
      for (int i = r; i < m; i++) {
        for (int j = r; j < n; j++) {
          if (Math.abs(w[i][j]) > pivot) {
            pivot = Math.abs(w[i][j]);
            pi = i;
            pj = j;
          }
        }
      }
      if (pi < 0) {
        return r;
      }
      double[] row = w[pi];
      w[pi] = w[r];
      w[r] = row;
      for (int i = 0; i < m; i++) {
        double t = w[i][r];
        w[i][r] = w[i][pj];
        w[i][pj] = t;
      }
      for (int i = r + 1; i < m; i++) {
        double factor = w[i][r] / row[r];
        if (factor != 0) {
          for (int j = r; j < n; j++) {
            w[i][j] -= factor * row[j];
          }
        }
      }
    }
  }
}
