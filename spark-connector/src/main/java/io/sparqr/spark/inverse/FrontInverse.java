/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.inverse;

import io.sparqr.error.InsufficientMemoryException;
import io.sparqr.numeric.dense.BlasLoader;
import io.sparqr.numeric.dense.StaircaseQr;
import io.sparqr.spark.solve.Norms;
import io.sparqr.threads.Crew;

/**
 * Z = (R'R)^-1 on one front as Z = F'F, from R's rows of the front and from F2, the same on the
 * front's tail, which its parent knows: with V = R11^-1 and W = V R12
 *
 * <pre>
 *   F = [ V'        0  ]      Z11 = V V' + W Z22 W',  Z12 = -W Z22
 *       [ -F2 W'    F2 ]
 * </pre>
 *
 * (the supernodal form of Erisman and Tinney 1975, doi:10.1145/360680.360704, of a square root of
 * Z). A variance is the square of the norm of a column of F: never negative, and as accurate as a
 * row of R^-1, where sums of Z's own entries lose the square of the condition number. What a child
 * needs are some of F's columns, made a trapezoid again by orthogonal transformations.
 *
 * <p>Dead pivots have zero columns. About r q (r + 2 cn) + r^3 flops for r live pivots and q rows
 * of F2, and a staircase QR for each child, of as many rows a column as the child leaves out
 * columns.
 */
final class FrontInverse {

  /** Rows that are solved one by one. */
  private static final int BLOCK = 64;

  private final int fp;
  private final int cn;

  /** Rows of F. */
  private final int rows;

  /** F, rows x (cn + r), column-major: the tail's columns in reverse, then the live pivots' . */
  private final double[] f;

  /** Size cn + r, ascending: rows of each column that may have entries. */
  private final int[] stair;

  /** Size fp: number of a pivot among the live ones, or -1. */
  private final int[] liveOf;

  private final int rank;

  /** F u, made when first asked for. */
  private double[] sum;

  /**
   * Computes F.
   *
   * @param live local columns of the live pivots, ascending
   * @param r11r12 size live.length; row i: values of columns live[i] .. fn-1 at [live[i], fn)
   * @param tail on the front's tail
   */
  FrontInverse(int fp, int[] live, double[][] r11r12, InverseFactor tail) {
    this.fp = fp;
    this.cn = tail.columns();
    this.rank = live.length;
    int q = tail.rows();
    this.rows = q + rank;
    if ((long) rows * (cn + rank + 1) > Integer.MAX_VALUE - 8) {
      throw new InsufficientMemoryException(
          "standard errors: the inverse on a front of "
              + (fp + cn)
              + " columns exceeds an array of 2^31 entries",
          8L * rows * (cn + rank + 1),
          8L * Integer.MAX_VALUE);
    }
    this.f = new double[rows * (cn + rank)];
    this.stair = new int[cn + rank];
    this.liveOf = new int[fp];
    java.util.Arrays.fill(liveOf, -1);
    for (int i = 0; i < rank; i++) {
      liveOf[live[i]] = i;
      stair[cn + rank - 1 - i] = q + rank - i;
    }
    for (int c = 0; c < cn; c++) {
      stair[c] = tail.stair()[c];
      System.arraycopy(tail.values(), c * q, f, c * rows, q);
    }
    fill(live, r11r12, tail);
  }

  private void fill(int[] live, double[][] r11r12, InverseFactor tail) {
    int q = tail.rows();
    // column rank-1-i: row i of W and of V, their columns in reverse
    double[] w = new double[cn * rank];
    double[] v = new double[rank * rank];
    solve(live, r11r12, w, v);
    if (q > 0 && rank > 0) {
      double[] t = new double[q * rank];
      BlasLoader.kernels().gemm(false, q, rank, cn, -1, tail.values(), 0, q, w, 0, cn, 0, t, 0, q);
      for (int c = 0; c < rank; c++) {
        System.arraycopy(t, c * q, f, (cn + c) * rows, q);
      }
    }
    for (int c = 0; c < rank; c++) {
      System.arraycopy(v, c * rank, f, (cn + c) * rows + q, c + 1);
    }
  }

  /** V = R11^-1 and W = V R12, row by row from the last; earlier blocks of rows by gemm. */
  private void solve(int[] live, double[][] r11r12, double[] w, double[] v) {
    for (int from = 0; from < rank; from += BLOCK) {
      int to = Math.min(from + BLOCK, rank);
      for (int c = from; c < to; c++) {
        double[] row = r11r12[rank - 1 - c];
        for (int j = 0; j < cn; j++) {
          w[c * cn + cn - 1 - j] = row[fp + j];
        }
        v[c * rank + c] = 1;
      }
      if (from > 0) {
        double[] a = coefficients(live, r11r12, from, to);
        subtractProduct(w, cn, cn, a, from, to);
        subtractProduct(v, rank, from, a, from, to);
      }
      for (int c = from; c < to; c++) {
        solveRow(live, r11r12[rank - 1 - c], c, from, w, v);
      }
    }
  }

  /** Of rows [from, to), counted from the last: what stands in the columns of the rows before. */
  private double[] coefficients(int[] live, double[][] r11r12, int from, int to) {
    double[] a = new double[from * (to - from)];
    for (int c = from; c < to; c++) {
      double[] row = r11r12[rank - 1 - c];
      for (int d = 0; d < from; d++) {
        a[(c - from) * from + d] = row[live[rank - 1 - d]];
      }
    }
    return a;
  }

  /** Columns [from, to) of x less columns [0, from) times a. */
  private static void subtractProduct(
      double[] x, int ld, int height, double[] a, int from, int to) {
    if (height == 0) {
      return;
    }
    double[] t = new double[height * (to - from)];
    BlasLoader.kernels()
        .gemm(false, height, to - from, from, 1, x, 0, ld, a, 0, from, 0, t, 0, height);
    for (int c = from; c < to; c++) {
      subtract(1, t, (c - from) * height, x, c * ld, height);
    }
  }

  /** The same by the rows from {@code from} on, then divided by the pivot. */
  private void solveRow(int[] live, double[] row, int c, int from, double[] w, double[] v) {
    for (int d = c - 1; d >= from; d--) {
      double a = row[live[rank - 1 - d]];
      if (a != 0) {
        subtract(a, w, d * cn, w, c * cn, cn);
        subtract(a, v, d * rank, v, c * rank, d + 1);
      }
    }
    double pivot = row[live[rank - 1 - c]];
    for (int j = 0; j < cn; j++) {
      w[c * cn + j] /= pivot;
    }
    for (int k = 0; k <= c; k++) {
      v[c * rank + k] /= pivot;
    }
  }

  private static void subtract(double a, double[] x, int xAt, double[] y, int yAt, int count) {
    for (int j = 0; j < count; j++) {
      y[yAt + j] -= a * x[xAt + j];
    }
  }

  /** Column of F of a local column; -1 where it is dead. */
  private int column(int local) {
    if (local >= fp) {
      return cn - 1 - (local - fp);
    }
    return liveOf[local] < 0 ? -1 : cn + rank - 1 - liveOf[local];
  }

  /** sqrt(Z_kk) of local column k, 0 where it is dead: the norm of a row of R^-1. */
  double norm(int k) {
    int c = column(k);
    return c < 0 ? 0 : Norms.norm(f, c * rows, stair[c]);
  }

  /** sqrt(u'Z u) for u with the values [from, from + count) at as many local columns. */
  double norm(int[] local, double[] u, int from, int count) {
    int top = 0;
    for (int k = 0; k < count; k++) {
      int c = column(local[k]);
      top = c < 0 ? top : Math.max(top, stair[c]);
    }
    double[] t = sum == null ? new double[rows] : sum;
    sum = t;
    java.util.Arrays.fill(t, 0, top, 0);
    for (int k = 0; k < count; k++) {
      int c = column(local[k]);
      double v = u[from + k];
      for (int i = 0, at = c * rows; c >= 0 && i < stair[c]; i++) {
        t[i] += v * f[at + i];
      }
    }
    return Norms.norm(t, 0, top);
  }

  /** F on a child's tail, whose columns are the local columns given, ascending. */
  InverseFactor restrict(int[] local, StaircaseQr qr) {
    int count = local.length;
    int[] to = new int[count];
    double[] matrix = new double[Math.toIntExact(StaircaseQr.length(rows, count))];
    int[] exponent = new int[count];
    int top = 0;
    for (int k = 0; k < count; k++) {
      int c = column(local[count - 1 - k]);
      if (c >= 0) {
        top = Math.max(top, stair[c]);
        exponent[k] = copyScaled(c, matrix, k * rows);
      }
      to[k] = top;
    }
    if (top == 0) {
      return InverseFactor.zero(count);
    }
    int[] pivot = new int[Math.min(rows, count)];
    int kept = qr.factor(matrix, rows, count, 0, 0, -1, to, pivot, Crew.ALONE);
    double[] values = new double[kept * count];
    int[] ends = new int[count];
    int end = 0;
    for (int k = 0; k < count; k++) {
      while (end < kept && pivot[end] <= k) {
        end++;
      }
      ends[k] = end;
      for (int i = 0; i < end; i++) {
        values[i + k * kept] = Math.scalb(matrix[i + k * rows], exponent[k]);
      }
    }
    return new InverseFactor(kept, count, values, ends);
  }

  /** Column c times a power of two that brings it near 1, so that reflectors meet no extremes. */
  private int copyScaled(int c, double[] matrix, int at) {
    double max = 0;
    for (int i = 0; i < stair[c]; i++) {
      max = Math.max(max, Math.abs(f[c * rows + i]));
    }
    if (max == 0 || !Double.isFinite(max)) {
      System.arraycopy(f, c * rows, matrix, at, stair[c]);
      return 0;
    }
    int e = Math.getExponent(max);
    for (int i = 0; i < stair[c]; i++) {
      matrix[at + i] = Math.scalb(f[c * rows + i], -e);
    }
    return e;
  }
}
