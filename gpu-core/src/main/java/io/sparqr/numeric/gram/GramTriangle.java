/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.gram;

import io.sparqr.threads.Crew;
import java.util.Arrays;

/**
 * R of a front while it is measured: upper triangular, column-major; weak columns have no row, and
 * their part of a vector is zero. Vectors are row-major, n x s, and column-major inside, where all
 * inner loops run down columns of R or of a transposed block. n^2 s flops a solve, 8 times as many
 * a product in twice the precision.
 */
final class GramTriangle {

  private static final int STRIP = 256;

  /** Rows of a transposed block. */
  private static final int BLOCK = 32;

  final int n;
  final double[] a;
  final int ld;
  private final GramCholesky factor;

  GramTriangle(int n, double[] array, int ld, GramCholesky factor) {
    this.n = n;
    this.a = array;
    this.ld = ld;
    this.factor = factor;
  }

  boolean isWeak(int j) {
    return factor.isWeak(j);
  }

  private int strips() {
    return (n + STRIP - 1) / STRIP;
  }

  private int end(int strip) {
    return Math.min(n, (strip + 1) * STRIP);
  }

  /** R^-1 z. */
  double[] solve(double[] z, int s, Crew crew) {
    double[] x = columns(z, s);
    for (int b = strips() - 1; b >= 0; b--) {
      int from = b * STRIP;
      int to = end(b);
      crew.run(s, q -> back(x, q * n, from, to));
      // Above the block: rows in strips of their own.
      crew.run(b, t -> subtract(x, s, t, from, to));
    }
    return rows(x, s);
  }

  private void back(double[] x, int vector, int from, int to) {
    for (int j = to - 1; j >= from; j--) {
      double v = isWeak(j) ? 0 : x[vector + j] / a[j + j * ld];
      x[vector + j] = v;
      for (int i = from; i < j; i++) {
        x[vector + i] -= v * a[i + j * ld];
      }
    }
  }

  /** Subtracts from a strip of x what columns [from, to) of R have there. */
  private void subtract(double[] x, int s, int strip, int from, int to) {
    int top = strip * STRIP;
    double[] column = new double[STRIP];
    double[][] sum = strips(x, s, top, STRIP);
    for (int j = from; j < to; j++) {
      System.arraycopy(a, j * ld + top, column, 0, STRIP);
      for (int q = 0; q < s; q++) {
        subtract(x[q * n + j], column, sum[q], STRIP);
      }
    }
    store(sum, x, top, STRIP);
  }

  /** from -= f x, without offsets, so that the compiler vectorizes it. */
  static void subtract(double f, double[] x, double[] from, int length) {
    for (int i = 0; i < length; i++) {
      from[i] -= f * x[i];
    }
  }

  private double[][] strips(double[] x, int s, int from, int length) {
    var strip = new double[s][STRIP];
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

  /** R^-T z. */
  double[] solveTransposed(double[] z, int s, Crew crew) {
    double[] x = columns(z, s);
    for (int b = 0; b < strips(); b++) {
      int from = b * STRIP;
      int to = end(b);
      crew.run(s, q -> forward(x, q * n, from, to));
      int first = b + 1;
      crew.run(strips() - first, t -> gather(x, s, from, to, first + t));
    }
    return rows(x, s);
  }

  private void forward(double[] x, int vector, int from, int to) {
    for (int j = from; j < to; j++) {
      double v = x[vector + j];
      for (int i = from; i < j; i++) {
        v -= a[i + j * ld] * x[vector + i];
      }
      x[vector + j] = isWeak(j) ? 0 : v / a[j + j * ld];
    }
  }

  /** Subtracts from a strip of x what rows [from, to) of R have in its columns. */
  private void gather(double[] x, int s, int from, int to, int strip) {
    var block = new double[BLOCK][STRIP];
    int left = strip * STRIP;
    int wide = end(strip) - left;
    double[][] sum = strips(x, s, left, wide);
    for (int top = from; top < to; top += BLOCK) {
      int high = Math.min(BLOCK, to - top);
      transpose(top, high, left, wide, block);
      for (int q = 0; q < s; q++) {
        for (int i = 0; i < high; i++) {
          subtract(x[q * n + top + i], block[i], sum[q], wide);
        }
      }
    }
    store(sum, x, left, wide);
  }

  /** Rows [top, top + high) of R in columns from left on, by rows. */
  private void transpose(int top, int high, int left, int wide, double[][] block) {
    for (int j = 0; j < wide; j++) {
      int column = top + (left + j) * ld;
      for (int i = 0; i < high; i++) {
        block[i][j] = a[column + i];
      }
    }
  }

  /** R x. */
  Pairs multiply(double[] x, int s, Crew crew) {
    var y = new Pairs(n * s);
    crew.run(
        strips(),
        t -> {
          int top = t * STRIP;
          int high = end(t) - top;
          double[] column = new double[STRIP];
          PairColumn[] sum = sums(s);
          // The array has zeros below the diagonal.
          for (int j = top; j < n; j++) {
            System.arraycopy(a, j * ld + top, column, 0, high);
            for (int q = 0; q < s; q++) {
              sum[q].add(x[j * s + q], 0, column, high);
            }
          }
          for (int i = 0; i < high; i++) {
            for (int q = 0; q < s; q++) {
              y.high[(top + i) * s + q] = sum[q].high[i];
              y.low[(top + i) * s + q] = sum[q].low[i];
            }
          }
        });
    return y;
  }

  private static PairColumn[] sums(int s) {
    var sum = new PairColumn[s];
    Arrays.setAll(sum, q -> new PairColumn(STRIP));
    return sum;
  }

  /** Subtracts R'y, also for the weak columns. */
  void subtractTransposed(Pairs y, int s, Pairs from, Crew crew) {
    crew.run(
        strips(),
        t -> {
          int left = t * STRIP;
          int wide = end(t) - left;
          var block = new double[BLOCK][STRIP];
          PairColumn[] sum = sums(s);
          for (int top = 0; top < end(t); top += BLOCK) {
            int rows = Math.min(BLOCK, n - top);
            transpose(top, rows, left, wide, block);
            for (int q = 0; q < s; q++) {
              for (int i = 0; i < rows; i++) {
                int k = (top + i) * s + q;
                sum[q].add(y.high[k], y.low[k], block[i], wide);
              }
            }
          }
          for (int j = 0; j < wide; j++) {
            for (int q = 0; q < s; q++) {
              int k = (left + j) * s + q;
              from.add(k, -sum[q].high[j]);
              from.low[k] -= sum[q].low[j];
            }
          }
        });
  }

  /** R'y. */
  double[] multiplyTransposed(double[] y, int s, Crew crew) {
    double[] x = new double[n * s];
    double[] from = columns(y, s);
    crew.run(
        strips(),
        t -> {
          int left = t * STRIP;
          int wide = end(t) - left;
          var block = new double[BLOCK][STRIP];
          var sum = new double[s][STRIP];
          for (int top = 0; top < end(t); top += BLOCK) {
            int high = Math.min(BLOCK, n - top);
            transpose(top, high, left, wide, block);
            for (int q = 0; q < s; q++) {
              for (int i = 0; i < high; i++) {
                subtract(-from[q * n + top + i], block[i], sum[q], wide);
              }
            }
          }
          store(sum, x, left, wide);
        });
    return rows(x, s);
  }

  /**
   * R := (I + up(MU' + UM')) R, up being what is above the diagonal and half of the diagonal: to
   * first order the triangle of R'(I + MU' + UM')R. 4 n^2 s flops.
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
            for (int i = j; i >= 0; i--) {
              double v = a[i + j * ld];
              double half = v / 2;
              double sum = 0;
              for (int q = 0; q < s; q++) {
                double x = u[i * s + q];
                double y = m[i * s + q];
                sum += y * (us[q] + half * x) + x * (ms[q] + half * y);
                us[q] += v * x;
                ms[q] += v * y;
              }
              a[i + j * ld] = v + sum;
            }
          }
        });
  }

  private double[] columns(double[] x, int s) {
    return transposed(x, n, s);
  }

  private double[] rows(double[] x, int s) {
    return transposed(x, s, n);
  }

  /** The transpose of a row-major matrix. */
  private static double[] transposed(double[] x, int height, int wide) {
    double[] y = new double[height * wide];
    for (int i = 0; i < height; i++) {
      for (int j = 0; j < wide; j++) {
        y[j * height + i] = x[i * wide + j];
      }
    }
    return y;
  }
}
