/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.inference;

/** Quadratic forms of an inverse, c'(W'W)^-1 c, from W or from W'W with few columns. */
final class Gram {

  /** A column depends on the earlier ones if less than this fraction of it remains. */
  private static final double DEPENDENT = 1e-10;

  private Gram() {}

  /**
   * c'(W'W)^-1 c by Gram-Schmidt with reorthogonalization (Giraud, Langou, Rozloznik 2005), which
   * avoids the square of W's condition number.
   *
   * @param w columns; overwritten
   * @throws IllegalArgumentException if a column depends on earlier ones
   */
  static double ofRoot(double[][] w, double[] c) {
    return ofRoot(w, c, DEPENDENT);
  }

  /**
   * As above, with another threshold; 0: for any condition of W, with NaN if a column is exactly a
   * combination of others.
   */
  static double ofRoot(double[][] w, double[] c, double dependent) {
    int q = w.length;
    double[] y = new double[q];
    double sum = 0;
    for (int k = 0; k < q; k++) {
      double before = norm(w[k]);
      double rest = c[k];
      for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < k; i++) {
          double r = dot(w[i], w[k]);
          rest -= r * y[i];
          for (int j = 0; j < w[k].length; j++) {
            w[k][j] -= r * w[i][j];
          }
        }
      }
      double after = norm(w[k]);
      requireIndependent(k, dependent == 0 || after > dependent * before);
      for (int j = 0; j < w[k].length; j++) {
        w[k][j] /= after;
      }
      y[k] = rest / after;
      sum += y[k] * y[k];
    }
    return sum;
  }

  /**
   * c'G^-1 c by Cholesky of G scaled to a diagonal of ones.
   *
   * @throws IllegalArgumentException if a row of G depends on earlier ones
   */
  static double of(double[][] g, double[] c) {
    int q = g.length;
    double[][] l = new double[q][q];
    double[] y = new double[q];
    double sum = 0;
    for (int i = 0; i < q; i++) {
      double scale = Math.sqrt(g[i][i]);
      double rest = c[i] / scale;
      double pivot = 1;
      for (int j = 0; j < i; j++) {
        double v = g[i][j] / scale / Math.sqrt(g[j][j]);
        for (int k = 0; k < j; k++) {
          v -= l[i][k] * l[j][k];
        }
        l[i][j] = v / l[j][j];
        pivot -= l[i][j] * l[i][j];
        rest -= l[i][j] * y[j];
      }
      requireIndependent(i, g[i][i] > 0 && pivot > DEPENDENT);
      l[i][i] = Math.sqrt(pivot);
      y[i] = rest / l[i][i];
      sum += y[i] * y[i];
    }
    return sum;
  }

  private static void requireIndependent(int k, boolean independent) {
    if (!independent) {
      throw new IllegalArgumentException(
          "contrast " + k + " depends on those before it: leave it out of the joint test");
    }
  }

  private static double norm(double[] x) {
    return Math.sqrt(dot(x, x));
  }

  private static double dot(double[] x, double[] y) {
    double sum = 0;
    for (int i = 0; i < x.length; i++) {
      sum += x[i] * y[i];
    }
    return sum;
  }
}
