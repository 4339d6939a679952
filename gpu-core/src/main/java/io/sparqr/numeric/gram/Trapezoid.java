/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.gram;

import io.sparqr.numeric.dense.ColumnStrips;
import io.sparqr.threads.Crew;
import java.util.Arrays;

/**
 * The rows of R of one front: p x n, upper trapezoidal, column-major, zero below the diagonal; weak
 * columns have no row, and their part of a vector is zero. Vectors are column-major, n x s. All
 * inner loops run down columns of R or of a transposed block. p n s flops a solve, 8 times as many
 * a product in twice the precision.
 */
final class Trapezoid {

  /** Rows; those of a strip of columns end with one. */
  private static final int STRIP = ColumnStrips.WIDTH;

  /** Rows of a transposed block. */
  private static final int BLOCK = 32;

  final int p;
  final int n;
  final ColumnStrips a;

  /** Of the tree's columns; those of the rows start at {@link #first}. */
  private final boolean[] weak;

  final int first;

  /** Longest strip of rows. */
  private final int high;

  /** Of an array whose further columns are right-hand sides. */
  Trapezoid(int p, int n, ColumnStrips array, boolean[] weak, int first) {
    this.p = p;
    this.n = n;
    this.a = array;
    this.weak = weak;
    this.first = first;
    high = Math.min(p, STRIP);
  }

  private boolean isWeak(int i) {
    return weak[first + i];
  }

  private int strips() {
    return (p + STRIP - 1) / STRIP;
  }

  private int end(int strip) {
    return Math.min(p, (strip + 1) * STRIP);
  }

  /** x[0 .. p) := R1^-1 (x[0 .. p) - R2 x[p .. n)), R = (R1 R2). */
  void solve(double[] x, int s, Crew crew) {
    if (p < n) {
      crew.run(strips(), t -> subtract(x, s, t, p, n));
    }
    for (int b = strips() - 1; b >= 0; b--) {
      int from = b * STRIP;
      int to = end(b);
      crew.run(s, q -> back(x, q * n, from, to));
      // Above the block: rows in strips of their own.
      crew.run(b, t -> subtract(x, s, t, from, to));
    }
  }

  private void back(double[] x, int vector, int from, int to) {
    for (int j = to - 1; j >= from; j--) {
      double[] r = a.array(j);
      int at = a.at(j);
      double v = isWeak(j) ? 0 : x[vector + j] / r[at + j];
      x[vector + j] = v;
      for (int i = from; i < j; i++) {
        x[vector + i] -= v * r[at + i];
      }
    }
  }

  /** Subtracts from a strip of x what columns [from, to) of R have there. */
  private void subtract(double[] x, int s, int strip, int from, int to) {
    int top = strip * STRIP;
    int length = end(strip) - top;
    double[] column = new double[high];
    double[][] sum = strips(x, s, top, length);
    for (int j = from; j < to; j++) {
      System.arraycopy(a.array(j), a.at(j) + top, column, 0, length);
      for (int q = 0; q < s; q++) {
        subtract(x[q * n + j], column, sum[q], length);
      }
    }
    store(sum, x, top, length);
  }

  /** from -= f x, without offsets, so that the compiler vectorizes it. */
  static void subtract(double f, double[] x, double[] from, int length) {
    for (int i = 0; i < length; i++) {
      from[i] -= f * x[i];
    }
  }

  private double[][] strips(double[] x, int s, int from, int length) {
    var strip = new double[s][length];
    for (int q = 0; q < s; q++) {
      System.arraycopy(x, q * n + from, strip[q], 0, length);
    }
    return strip;
  }

  private void store(double[][] strip, double[] x, int from, int length) {
    for (int q = 0; q < strip.length; q++) {
      System.arraycopy(strip[q], 0, x, q * n + from, length);
    }
  }

  /** x[0 .. p) := R1^-T x[0 .. p), then x[p .. n) -= R2'x[0 .. p). */
  void solveTransposed(double[] x, int s, Crew crew) {
    for (int b = 0; b < strips(); b++) {
      int from = b * STRIP;
      int to = end(b);
      crew.run(s, q -> forward(x, q * n, from, to));
      crew.run((n - to + STRIP - 1) / STRIP, t -> gather(x, s, from, to, to + t * STRIP));
    }
  }

  private void forward(double[] x, int vector, int from, int to) {
    for (int j = from; j < to; j++) {
      double[] r = a.array(j);
      int at = a.at(j);
      double v = x[vector + j];
      for (int i = from; i < j; i++) {
        v -= r[at + i] * x[vector + i];
      }
      x[vector + j] = isWeak(j) ? 0 : v / r[at + j];
    }
  }

  /** Subtracts from x, from an index on, what rows [from, to) of R have in a strip of columns. */
  private void gather(double[] x, int s, int from, int to, int left) {
    int length = Math.min(n, left + STRIP) - left;
    var block = new double[Math.min(BLOCK, to - from)][length];
    double[][] sum = strips(x, s, left, length);
    for (int top = from; top < to; top += BLOCK) {
      int rows = Math.min(BLOCK, to - top);
      transpose(top, rows, left, length, block);
      for (int q = 0; q < s; q++) {
        for (int i = 0; i < rows; i++) {
          subtract(x[q * n + top + i], block[i], sum[q], length);
        }
      }
    }
    store(sum, x, left, length);
  }

  /** Rows [top, top + rows) of R in columns from left on, by rows. */
  private void transpose(int top, int rows, int left, int length, double[][] block) {
    for (int j = 0; j < length; j++) {
      double[] r = a.array(left + j);
      int at = a.at(left + j) + top;
      for (int i = 0; i < rows; i++) {
        block[i][j] = r[at + i];
      }
    }
  }

  /** R x: rows first .. first + p of y, which is row-major. */
  void multiply(double[] x, int s, Pairs y, Crew crew) {
    crew.run(
        strips(),
        t -> {
          int top = t * STRIP;
          int length = end(t) - top;
          double[] column = new double[length];
          PairColumn[] sum = sums(s, length);
          for (int j = top; j < n; j++) {
            System.arraycopy(a.array(j), a.at(j) + top, column, 0, length);
            for (int q = 0; q < s; q++) {
              sum[q].add(x[q * n + j], 0, column, length);
            }
          }
          for (int i = 0; i < length; i++) {
            for (int q = 0; q < s; q++) {
              y.high[(first + top + i) * s + q] = sum[q].high[i];
              y.low[(first + top + i) * s + q] = sum[q].low[i];
            }
          }
        });
  }

  private static PairColumn[] sums(int s, int length) {
    var sum = new PairColumn[s];
    Arrays.setAll(sum, q -> new PairColumn(length));
    return sum;
  }

  /** R'y for rows first .. first + p of y, also for weak columns: out, row-major, n x s. */
  void multiplyTransposed(Pairs y, int s, Pairs out, Crew crew) {
    crew.run(
        (n + STRIP - 1) / STRIP,
        t -> {
          int left = t * STRIP;
          int length = Math.min(n, left + STRIP) - left;
          var block = new double[Math.min(BLOCK, p)][length];
          PairColumn[] sum = sums(s, length);
          for (int top = 0; top < Math.min(p, left + length); top += BLOCK) {
            int rows = Math.min(BLOCK, p - top);
            transpose(top, rows, left, length, block);
            for (int q = 0; q < s; q++) {
              for (int i = 0; i < rows; i++) {
                int k = (first + top + i) * s + q;
                sum[q].add(y.high[k], y.low[k], block[i], length);
              }
            }
          }
          for (int j = 0; j < length; j++) {
            for (int q = 0; q < s; q++) {
              out.high[(left + j) * s + q] = sum[q].high[j];
              out.low[(left + j) * s + q] = sum[q].low[j];
            }
          }
        });
  }

  /** R'x[0 .. p): out, column-major, n x s. */
  void multiplyTransposed(double[] x, int s, double[] out, Crew crew) {
    crew.run(
        (n + STRIP - 1) / STRIP,
        t -> {
          int left = t * STRIP;
          int length = Math.min(n, left + STRIP) - left;
          var block = new double[Math.min(BLOCK, p)][length];
          var sum = new double[s][length];
          for (int top = 0; top < Math.min(p, left + length); top += BLOCK) {
            int rows = Math.min(BLOCK, p - top);
            transpose(top, rows, left, length, block);
            for (int q = 0; q < s; q++) {
              for (int i = 0; i < rows; i++) {
                subtract(-x[q * n + top + i], block[i], sum[q], length);
              }
            }
          }
          store(sum, out, left, length);
        });
  }

  /**
   * R := (I + up(MU' + UM')) R for a triangle, p = n, up being what is above the diagonal and half
   * of the diagonal: to first order the triangle of R'(I + MU' + UM')R. U and M are row-major. 4
   * n^2 s flops.
   */
  void correct(double[] u, double[] m, int s, Crew crew) {
    crew.run(
        strips(),
        t -> {
          double[] us = new double[s];
          double[] ms = new double[s];
          for (int j = t * STRIP; j < end(t); j++) {
            Arrays.fill(us, 0);
            Arrays.fill(ms, 0);
            double[] r = a.array(j);
            int at = a.at(j);
            for (int i = j; i >= 0; i--) {
              double v = r[at + i];
              double half = v / 2;
              double sum = 0;
              for (int q = 0; q < s; q++) {
                double x = u[i * s + q];
                double y = m[i * s + q];
                sum += y * (us[q] + half * x) + x * (ms[q] + half * y);
                us[q] += v * x;
                ms[q] += v * y;
              }
              r[at + i] = v + sum;
            }
          }
        });
  }
}
