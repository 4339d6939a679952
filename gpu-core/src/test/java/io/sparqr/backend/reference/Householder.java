/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.reference;

import java.util.Arrays;

/**
 * Householder reflectors as LAPACK defines them: H_j = I - tau_j v_j v_j', v_j(j) = 1, H_j x = beta
 * e_j, beta = -sign(alpha) ||x||; a column that is zero below the diagonal has tau = 0.
 *
 * <p>The remainder of a column counts as zero (R_kk = 0, v = e_k, tau = 0) if its norm is below
 * 2^{@value #NOTHING_LEFT} of the column's largest entry, far below rounding errors: otherwise rows
 * beyond the rank would be passed on as noise of noise, 15.5 decades smaller with every column.
 */
final class Householder {

  /** A binary exponent, the kernels' SPARQR_NOTHING_LEFT negated. */
  private static final int NOTHING_LEFT = -60;

  /** Longest run of terms summed one after the other. */
  private static final int TERMS = 16;

  private Householder() {}

  /** 2-norm of column k of rows [from, end), safe from overflow. */
  static double norm(double[][] a, int from, int k) {
    double scale = 0;
    for (int i = from; i < a.length; i++) {
      double x = Math.abs(a[i][k]);
      if (!(x <= scale)) {
        scale = x;
      }
    }
    if (!(scale > 0)) {
      return scale;
    }
    return scale * Math.sqrt(squares(a, from, a.length, k, scale));
  }

  /**
   * The inner product of columns k and j of rows [from, to). Pairwise summation down to a few
   * terms: with equal terms one after the other, each rounds the same way, and the error grows with
   * their number.
   */
  private static double product(double[][] a, int from, int to, int k, int j) {
    if (to - from > TERMS) {
      int middle = (from + to) >>> 1;
      return product(a, from, middle, k, j) + product(a, middle, to, k, j);
    }
    double sum = 0;
    for (int i = from; i < to; i++) {
      sum += a[i][k] * a[i][j];
    }
    return sum;
  }

  /**
   * The inner products of column k and each column behind it, as {@link #product} has them to the
   * bit, but row by row: columns of many rows are far apart in memory.
   *
   * @param sums room by depth of the recursion; the result is in that of this {@code depth}
   */
  private static void products(double[][] a, int from, int to, int k, double[][] sums, int depth) {
    if (to - from > TERMS) {
      int middle = (from + to) >>> 1;
      products(a, from, middle, k, sums, depth);
      products(a, middle, to, k, sums, depth + 1);
      for (int j = k + 1; j < sums[depth].length; j++) {
        sums[depth][j] += sums[depth + 1][j];
      }
      return;
    }
    double[] sum = sums[depth];
    if (sum == null) {
      sum = new double[a[0].length];
      sums[depth] = sum;
    }
    Arrays.fill(sum, k + 1, sum.length, 0);
    for (int i = from; i < to; i++) {
      double[] of = a[i];
      double v = of[k];
      for (int j = k + 1; j < sum.length; j++) {
        sum[j] += v * of[j];
      }
    }
  }

  /** The inner product of a column, divided by a number, with itself. */
  private static double squares(double[][] a, int from, int to, int k, double scale) {
    if (to - from > TERMS) {
      int middle = (from + to) >>> 1;
      return squares(a, from, middle, k, scale) + squares(a, middle, to, k, scale);
    }
    double sum = 0;
    for (int i = from; i < to; i++) {
      double x = a[i][k] / scale;
      sum += x * x;
    }
    return sum;
  }

  /** Makes a reflector for any remainder of the column. */
  static double reflect(double[][] a, int row, int k) {
    return reflect(a, row, k, 0);
  }

  /**
   * Makes the reflector of column k that zeroes rows below {@code row}, and applies it to columns
   * k+1, k+2, ...; R in row {@code row}, v below. Returns tau.
   *
   * @param floor norm below which the column's remainder counts as zero
   */
  private static double reflect(double[][] a, int row, int k, double floor) {
    double below = norm(a, row + 1, k);
    if (Math.hypot(a[row][k], below) < floor) {
      for (int i = row; i < a.length; i++) {
        a[i][k] = 0;
      }
      return 0;
    }
    if (below == 0) {
      return 0;
    }
    // Scales the entries to a size near 1: subnormal ones have too few bits for an orthogonal H.
    int e = Math.getExponent(Math.max(Math.abs(a[row][k]), below));
    for (int i = row; i < a.length; i++) {
      a[i][k] = Math.scalb(a[i][k], -e);
    }
    double alpha = a[row][k];
    double beta = -Math.copySign(norm(a, row, k), alpha);
    double tau = (beta - alpha) / beta;
    for (int i = row + 1; i < a.length; i++) {
      a[i][k] /= alpha - beta;
    }
    a[row][k] = Math.scalb(beta, e);
    double[][] sums = new double[Integer.SIZE][];
    products(a, row + 1, a.length, k, sums, 0);
    double[] sum = sums[0];
    for (int j = k + 1; j < sum.length; j++) {
      sum[j] = tau * (a[row][j] + sum[j]);
      a[row][j] -= sum[j];
    }
    for (int i = row + 1; i < a.length; i++) {
      double[] of = a[i];
      double v = of[k];
      for (int j = k + 1; j < sum.length; j++) {
        of[j] -= sum[j] * v;
      }
    }
    return tau;
  }

  /** Factorizes the first w columns, w at most the number of rows; returns the taus. */
  static double[] factorize(double[][] a, int w) {
    double[] floor = new double[w];
    for (double[] row : a) {
      for (int k = 0; k < w; k++) {
        floor[k] = Math.max(floor[k], Math.abs(row[k]));
      }
    }
    double[] tau = new double[w];
    for (int k = 0; k < w; k++) {
      tau[k] = reflect(a, k, k, Math.scalb(floor[k], NOTHING_LEFT));
    }
    return tau;
  }

  /** T of H_0 H_1 ... = I - V T V'; column j: -tau_j T V' v_j above tau_j. */
  static double[][] blockT(double[][] a, double[] tau) {
    int w = tau.length;
    double[][] t = new double[w][w];
    double[] z = new double[w];
    for (int j = 0; j < w; j++) {
      for (int i = 0; i < j; i++) {
        z[i] = a[j][i] + product(a, j + 1, a.length, i, j);
      }
      for (int i = 0; i < j; i++) {
        for (int k = i; k < j; k++) {
          t[i][j] -= tau[j] * t[i][k] * z[k];
        }
      }
      t[j][j] = tau[j];
    }
    return t;
  }
}
