/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.inverse;

import io.sparqr.error.InsufficientMemoryException;
import io.sparqr.numeric.dense.BlasLoader;
import io.sparqr.numeric.dense.StaircaseQr;
import io.sparqr.spark.solve.Norms;
import io.sparqr.threads.Crew;
import org.jspecify.annotations.Nullable;

/**
 * Z = (R'R)^-1 on one front as Z = F'F, from R's rows of the front and from F2, the same on the
 * front's tail, which comes from its parent. With V = R11^-1 and W = V R12
 *
 * <pre>
 *   F = [ V'        0  ]      Z11 = V V' + W Z22 W',  Z12 = -W Z22
 *       [ -F2 W'    F2 ]
 * </pre>
 *
 * (the supernodal form of Erisman and Tinney 1975, doi:10.1145/360680.360704, of a square root of
 * Z). A variance is the square of the norm of a column of F: never negative, and as accurate as a
 * row of R^-1, whereas sums of Z's own entries lose the square of the condition number. A child
 * needs some of F's columns, which orthogonal transformations bring back to trapezoidal form.
 *
 * <p>Dead pivots have zero columns. About r q (r + 2 cn) + r^3 flops for r live pivots and q rows
 * of F2, and a staircase QR for each child, with as many rows per column as the child leaves out
 * columns.
 */
final class FrontInverse {

  /** Rows that are solved one by one. */
  private static final int BLOCK = 32;

  /** Rows at a time. */
  private static final int ROWS = 256;

  /** Columns of W and V, or of F, that one thread computes at a time. */
  private static final int STRIP = 256;

  /** With fewer flops, or entries, sharing does not pay. */
  private static final double SHARED_WORK = 2e6;

  private final int fp;
  private final int cn;

  /** Number of rows of F. */
  private final int rows;

  /** F, rows x (cn + r), column-major: the tail's columns in reverse, then the live pivots' . */
  private final double[] f;

  /** Size cn + r, ascending: number of leading rows of each column that may have entries. */
  private final int[] stair;

  /** Size fp: index of a pivot among the live ones, or -1. */
  private final int[] liveOf;

  private final int rank;
  private final InverseFactor.@Nullable Products products;

  /** F'F where it pays. */
  private @Nullable InverseGram gram;

  /** Scratch for F u, created on first use. */
  private double @Nullable [] sum;

  /**
   * Computes F.
   *
   * @param live local columns of the live pivots, ascending
   * @param r11r12 size live.length; row i: values of columns live[i] .. fn-1 at [live[i], fn)
   * @param tail the inverse's factor on the front's tail
   * @param crew threads that may help; the bits do not depend on them
   */
  FrontInverse(int fp, int[] live, double[][] r11r12, InverseFactor tail, Crew crew) {
    this.fp = fp;
    this.cn = tail.columns();
    this.rank = live.length;
    this.products = tail.products();
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
    System.arraycopy(tail.stair(), 0, stair, 0, cn);
    helpers((double) q * cn, crew)
        .run(
            strips(cn),
            p -> {
              for (int c = p * STRIP; c < Math.min(cn, (p + 1) * STRIP); c++) {
                System.arraycopy(tail.values(), c * q, f, c * rows, stair[c]);
              }
            });
    fill(live, r11r12, q, crew);
  }

  private void fill(int[] live, double[][] r11r12, int q, Crew crew) {
    // Column rank-1-i holds row i of W and of V, in reverse column order.
    double[] w = new double[cn * rank];
    double[] v = new double[rank * rank];
    solve(live, r11r12, w, v, crew);
    if (q > 0 && rank > 0) {
      // netlib wants room for the last rows' whole columns
      double[] t = new double[q * (rank + 1)];
      int tall = strips(q);
      helpers(2.0 * q * rank * cn, crew)
          .run(
              tall * strips(rank),
              p -> {
                int top = p % tall * STRIP;
                int m = Math.min(STRIP, q - top);
                int from = p / tall * STRIP;
                int n = Math.min(STRIP, rank - from);
                int at = from * q + top;
                BlasLoader.kernels()
                    .gemm(false, m, n, cn, -1, f, top, rows, w, from * cn, cn, 0, t, at, q);
              });
      for (int c = 0; c < rank; c++) {
        System.arraycopy(t, c * q, f, (cn + c) * rows, q);
      }
    }
    for (int c = 0; c < rank; c++) {
      System.arraycopy(v, c * rank, f, (cn + c) * rows + q, c + 1);
    }
  }

  private static int strips(int count) {
    return (count + STRIP - 1) / STRIP;
  }

  private static Crew helpers(double work, Crew crew) {
    return work < SHARED_WORK ? Crew.ALONE : crew;
  }

  /**
   * V = R11^-1 and W = V R12, row by row from the last; products with earlier rows by gemm, for
   * some rows at a time, and within these for fewer. The columns of V and W are independent of each
   * other.
   */
  private void solve(int[] live, double[][] r11r12, double[] w, double[] v, Crew crew) {
    int wide = strips(cn);
    for (int from = 0; from < rank; from += ROWS) {
      int first = from;
      int to = Math.min(from + ROWS, rank);
      double[] a = coefficients(live, r11r12, 0, from, to);
      helpers(2.0 * to * (to - from) * (cn + to), crew)
          .run(
              wide + strips(to),
              p -> {
                if (p < wide) {
                  int end = Math.min((p + 1) * STRIP, cn);
                  tailStrip(live, r11r12, a, first, to, p * STRIP, end, w);
                } else {
                  int begin = (p - wide) * STRIP;
                  int end = Math.min(begin + STRIP, to);
                  pivotStrip(live, r11r12, a, first, to, begin, end, v);
                }
              });
    }
  }

  /**
   * Coefficients of rows [from, to), counted from the last, in the columns of rows [before, from).
   */
  private double[] coefficients(int[] live, double[][] r11r12, int before, int from, int to) {
    int count = from - before;
    // netlib wants operands that end with a whole column
    double[] a = new double[count * (to - from + 1)];
    for (int c = from; c < to; c++) {
      double[] row = r11r12[rank - 1 - c];
      for (int d = 0; d < count; d++) {
        a[(c - from) * count + d] = row[live[rank - 1 - before - d]];
      }
    }
    return a;
  }

  /** Computes columns [begin, end) of rows [from, to) of W. */
  private void tailStrip(
      int[] live, double[][] r11r12, double[] a, int from, int to, int begin, int end, double[] w) {
    for (int c = from; c < to; c++) {
      double[] row = r11r12[rank - 1 - c];
      for (int j = begin; j < end; j++) {
        w[c * cn + j] = row[fp + cn - 1 - j];
      }
    }
    subtractProduct(w, begin, cn, end - begin, a, 0, 0, from, to);
    for (int block = from; block < to; block += BLOCK) {
      int stop = Math.min(block + BLOCK, to);
      double[] own = coefficients(live, r11r12, from, block, stop);
      subtractProduct(w, begin, cn, end - begin, own, from, from, block, stop);
      for (int c = block; c < stop; c++) {
        double[] row = r11r12[rank - 1 - c];
        for (int d = c - 1; d >= block; d--) {
          double x = row[live[rank - 1 - d]];
          if (x != 0) {
            subtract(x, w, d * cn + begin, w, c * cn + begin, end - begin);
          }
        }
        divide(w, c * cn + begin, end - begin, row[live[rank - 1 - c]]);
      }
    }
  }

  /** Computes columns [begin, end) of rows [from, to) of V; row c has columns [0, c]. */
  private void pivotStrip(
      int[] live, double[][] r11r12, double[] a, int from, int to, int begin, int end, double[] v) {
    for (int c = Math.max(from, begin); c < Math.min(to, end); c++) {
      v[c * rank + c] = 1;
    }
    // rows before the strip have nothing in its columns
    subtractProduct(v, begin, rank, Math.min(end, from) - begin, a, 0, begin, from, to);
    for (int block = from; block < to; block += BLOCK) {
      int stop = Math.min(block + BLOCK, to);
      double[] own = coefficients(live, r11r12, from, block, stop);
      int zero = Math.max(from, begin);
      subtractProduct(v, begin, rank, Math.min(end, block) - begin, own, from, zero, block, stop);
      for (int c = Math.max(block, begin); c < stop; c++) {
        double[] row = r11r12[rank - 1 - c];
        for (int d = c - 1; d >= Math.max(block, begin); d--) {
          double x = row[live[rank - 1 - d]];
          if (x != 0) {
            int count = Math.min(end, d + 1) - begin;
            subtract(x, v, d * rank + begin, v, c * rank + begin, count);
          }
        }
        divide(v, c * rank + begin, Math.min(end, c + 1) - begin, row[live[rank - 1 - c]]);
      }
    }
  }

  /**
   * Columns [from, to) of x minus columns [start, from) times a, in {@code height} rows.
   *
   * @param a (from - before) x (to - from), its first row for column {@code before}
   */
  private static void subtractProduct(
      double[] x, int at, int ld, int height, double[] a, int before, int start, int from, int to) {
    if (height <= 0 || from <= start) {
      return;
    }
    int lda = from - before;
    int k = from - start;
    double[] t = new double[height * (to - from)];
    BlasLoader.kernels()
        .gemm(
            false,
            height,
            to - from,
            k,
            1,
            x,
            start * ld + at,
            ld,
            a,
            start - before,
            lda,
            0,
            t,
            0,
            height);
    for (int c = from; c < to; c++) {
      subtract(1, t, (c - from) * height, x, c * ld + at, height);
    }
  }

  private static void divide(double[] x, int at, int count, double pivot) {
    for (int j = at; j < at + count; j++) {
      x[j] /= pivot;
    }
  }

  private static void subtract(double a, double[] x, int xAt, double[] y, int yAt, int count) {
    for (int j = 0; j < count; j++) {
      y[yAt + j] -= a * x[xAt + j];
    }
  }

  /** F's column for a local column; -1 if it is dead. */
  private int column(int local) {
    if (local >= fp) {
      return cn - 1 - (local - fp);
    }
    return liveOf[local] < 0 ? -1 : cn + rank - 1 - liveOf[local];
  }

  /** sqrt(Z_kk) of local column k, the norm of a row of R^-1; 0 if it is dead. */
  double norm(int k) {
    int c = column(k);
    return c < 0 ? 0 : Norms.norm(f, c * rows, stair[c]);
  }

  /** sqrt(u'Z u) for u with values [from, from + count) at the same number of local columns. */
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

  /**
   * Prepares for children.
   *
   * @param squares sum of the squares of their tails' lengths
   * @return whether tails that are not very long are then quickly done by one thread each
   */
  boolean expect(double squares, Crew crew) {
    if (InverseGram.pays(squares, stair.length)) {
      gram = new InverseGram(f, rows, stair, cn, products, crew);
    }
    return gram != null;
  }

  /** Makes Z, unless the children needed it. */
  void square(Crew crew) {
    gram = gram == null ? new InverseGram(f, rows, stair, cn, products, crew) : gram;
  }

  /**
   * Z on some local columns, after {@link #square}: rows for all of them, columns for those in
   * [from, to); row-major, 0 where a column is dead.
   */
  double[] block(int[] local, int from, int to) {
    InverseGram z = java.util.Objects.requireNonNull(gram);
    int[] columns = new int[local.length];
    for (int k = 0; k < columns.length; k++) {
      columns[k] = column(local[k]);
    }
    return z.block(columns, from, to);
  }

  /** F on a child's tail, which consists of the given local columns, ascending. */
  InverseFactor restrict(int[] local, StaircaseQr qr, Crew crew) {
    int count = local.length;
    if (gram != null) {
      int[] columns = new int[count];
      for (int k = 0; k < count; k++) {
        columns[k] = column(local[count - 1 - k]);
      }
      InverseFactor found = gram.factor(columns, crew);
      if (found != null) {
        return found;
      }
    }
    int[] to = new int[count];
    int top = 0;
    for (int k = 0; k < count; k++) {
      int c = column(local[count - 1 - k]);
      top = c < 0 ? top : Math.max(top, stair[c]);
      to[k] = top;
    }
    if (top == 0) {
      return InverseFactor.zero(count);
    }
    double[] matrix = new double[Math.toIntExact(StaircaseQr.length(rows, count))];
    int[] exponent = new int[count];
    Crew helpers = helpers((double) rows * count, crew);
    helpers.run(
        strips(count),
        p -> {
          for (int k = p * STRIP; k < Math.min((p + 1) * STRIP, count); k++) {
            int c = column(local[count - 1 - k]);
            exponent[k] = c < 0 ? 0 : copyScaled(c, matrix, k * rows);
          }
        });
    int[] pivot = new int[Math.min(rows, count)];
    int kept = qr.factor(matrix, rows, count, 0, 0, -1, to, pivot, crew);
    double[] values = new double[kept * count];
    int[] ends = new int[count];
    int end = 0;
    for (int k = 0; k < count; k++) {
      while (end < kept && pivot[end] <= k) {
        end++;
      }
      ends[k] = end;
    }
    helpers.run(
        strips(count),
        p -> {
          for (int k = p * STRIP; k < Math.min((p + 1) * STRIP, count); k++) {
            for (int i = 0; i < ends[k]; i++) {
              values[i + k * kept] = Math.scalb(matrix[i + k * rows], exponent[k]);
            }
          }
        });
    return new InverseFactor(kept, count, values, ends);
  }

  /**
   * Copies column c, times a power of two that brings it near 1, to avoid extreme values in
   * reflectors.
   */
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
