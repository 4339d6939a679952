/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.inverse;

import io.sparqr.numeric.dense.BlasLoader;
import io.sparqr.spark.solve.Norms;
import io.sparqr.threads.Crew;
import java.util.SplittableRandom;

/**
 * U of U'U = G by several threads, for a G with a diagonal of ones, and an estimate of ||U^-1||^2.
 * Blocks are cut by the size alone, so the bits do not depend on the threads.
 */
final class TailCholesky {

  /** Columns that one thread computes at a time. */
  private static final int BLOCK = 128;

  /** Rows of a block of products, and columns between two steps of a triangular solve. */
  private static final int TALL = 512;

  /** Largest triangle without BLAS. */
  private static final int SMALL = 32;

  /** With fewer columns, sharing does not pay. */
  private static final int SHARED = 384;

  /** Steps of an estimate. */
  private static final int STEPS = 5;

  /** Part of a start, of which the average is 1 / sqrt(n), that one start in 125 is below. */
  private static final double LEAST_PART = 0.01;

  private final int n;
  private final double[] u;
  private final Crew crew;

  /** Room for an n x n matrix, whose upper triangle is then filled. */
  TailCholesky(int n, Crew crew) {
    this.n = n;
    this.crew = n < SHARED ? Crew.ALONE : crew;
    // netlib wants room for one more column
    u = new double[n * (n + 1)];
  }

  /** G, later U: entry (i, j), i <= j, at i + j * n. */
  double[] upper() {
    return u;
  }

  /** Columns [from, to) of the matrix. */
  interface Strip {
    void accept(int from, int to);
  }

  /** All columns, some at a time for each thread. */
  void columns(Strip strip) {
    strips(0, n, crew, strip);
  }

  /** Puts U in the place of G; false if it has no digits left. n^3 / 3 flops. */
  boolean factor() {
    return factor(0, n);
  }

  private Crew helpers(int columns) {
    return columns < SHARED ? Crew.ALONE : crew;
  }

  /** Columns [from, to), {@value #BLOCK} at a time. */
  private static void strips(int from, int to, Crew crew, Strip strip) {
    int count = (to - from + BLOCK - 1) / BLOCK;
    crew.run(count, p -> strip.accept(from + p * BLOCK, Math.min(to, from + (p + 1) * BLOCK)));
  }

  /** In rows and columns [from, to), by halves, so that most is products of large blocks. */
  private boolean factor(int from, int to) {
    if (to - from <= SMALL) {
      for (int j = from; j < to; j++) {
        for (int i = from; i < j; i++) {
          double sum = u[i + j * n] - dot(u, from + i * n, u, from + j * n, i - from);
          u[i + j * n] = sum / u[i + i * n];
        }
        double sum = u[j + j * n] - dot(u, from + j * n, u, from + j * n, j - from);
        if (!(sum > 0)) {
          return false;
        }
        u[j + j * n] = Math.sqrt(sum);
      }
      return true;
    }
    int half = half(from, to);
    if (!factor(from, half)) {
      return false;
    }
    Crew helpers = helpers(to - from);
    strips(half, to, helpers, (left, right) -> solveTransposed(from, half, left, right));
    int tall = (to - half + TALL - 1) / TALL;
    int wide = (to - half + BLOCK - 1) / BLOCK;
    helpers.run(
        tall * wide,
        p -> {
          // the longest columns first
          int left = half + (wide - 1 - p / tall) * BLOCK;
          int right = Math.min(to, left + BLOCK);
          int top = half + p % tall * TALL;
          if (top < right) {
            subtract(from, half, top, Math.min(right, top + TALL), left, right);
          }
        });
    return factor(half, to);
  }

  /** Rows [from, to) of U'^-1 G in columns [left, right), U in the same rows. */
  private void solveTransposed(int from, int to, int left, int right) {
    if (to - from <= SMALL) {
      solveSmall(from, to - from, left, right);
      return;
    }
    int half = half(from, to);
    solveTransposed(from, half, left, right);
    subtract(from, half, half, to, left, right);
    solveTransposed(half, to, left, right);
  }

  /** The same for k rows, by their triangle's inverse: one product for many columns. */
  private void solveSmall(int from, int k, int left, int right) {
    double[] inverse = new double[k * k];
    for (int j = 0; j < k; j++) {
      int at = from + (from + j) * n;
      double pivot = u[at + j];
      inverse[j + j * k] = 1 / pivot;
      for (int i = 0; i < j; i++) {
        double sum = 0;
        for (int l = i; l < j; l++) {
          sum += inverse[i + l * k] * u[at + l];
        }
        inverse[i + j * k] = -sum / pivot;
      }
    }
    int count = right - left;
    double[] x = new double[k * count];
    int b = from + left * n;
    BlasLoader.kernels().gemm(true, k, count, k, 1, inverse, 0, k, u, b, n, 0, x, 0, k);
    for (int j = 0; j < count; j++) {
      System.arraycopy(x, j * k, u, b + j * n, k);
    }
  }

  private static int half(int from, int to) {
    int blocks = (to - from + SMALL - 1) / SMALL;
    return from + (blocks + 1) / 2 * SMALL;
  }

  /** G in rows [top, bottom) and columns [left, right) minus the products of rows [from, to). */
  private void subtract(int from, int to, int top, int bottom, int left, int right) {
    int m = bottom - top;
    int k = to - from;
    int a = from + top * n;
    int b = from + left * n;
    BlasLoader.kernels()
        .gemm(true, m, right - left, k, -1, u, a, n, u, b, n, 1, u, top + left * n, n);
  }

  /** In four sums, because each addition to one waits for the last. */
  private static double dot(double[] x, int xAt, double[] y, int yAt, int count) {
    double s0 = 0;
    double s1 = 0;
    double s2 = 0;
    double s3 = 0;
    int k = 0;
    for (; k + 3 < count; k += 4) {
      s0 += x[xAt + k] * y[yAt + k];
      s1 += x[xAt + k + 1] * y[yAt + k + 1];
      s2 += x[xAt + k + 2] * y[yAt + k + 2];
      s3 += x[xAt + k + 3] * y[yAt + k + 3];
    }
    for (; k < count; k++) {
      s0 += x[xAt + k] * y[yAt + k];
    }
    return (s0 + s1) + (s2 + s3);
  }

  /**
   * An estimate from below of ||U^-1||^2, by inverse iteration with U'U. Starts from normal values:
   * signs may be orthogonal to the difference of two columns. Ends before the last step where the
   * growth of the steps so far leaves no room: a start whose part of the largest eigenvector is not
   * below {@value #LEAST_PART} of the average one has grown by that part times the eigenvalue's
   * power.
   *
   * @param limit of interest
   */
  double growth(double limit) {
    var random = new SplittableRandom(n);
    double[] x = random.doubles(n).map(v -> random.nextGaussian()).toArray();
    double growth = 1;
    double all = 1;
    double room = Math.sqrt(n) / LEAST_PART;
    for (int step = 0; step < STEPS; step++) {
      forward(x, Norms.norm(x, 0, n));
      backward(x);
      growth = Norms.norm(x, 0, n);
      all *= growth;
      if (Math.pow(all * room, 1.0 / (step + 1)) < limit) {
        break;
      }
    }
    return growth;
  }

  /** U'^-1 x / before, in place. */
  private void forward(double[] x, double before) {
    for (int from = 0; from < n; from += TALL) {
      int first = from;
      int last = Math.min(n, from + TALL);
      strips(
          first,
          last,
          crew,
          (left, right) -> {
            for (int j = left; j < right; j++) {
              x[j] = x[j] / before - dot(u, j * n, x, 0, first);
            }
          });
      for (int j = first; j < last; j++) {
        x[j] = (x[j] - dot(u, first + j * n, x, first, j - first)) / u[j + j * n];
      }
    }
  }

  /** U^-1 x, in place. */
  private void backward(double[] x) {
    for (int to = n; to > 0; to -= TALL) {
      int first = Math.max(0, to - TALL);
      int last = to;
      for (int j = last - 1; j >= first; j--) {
        x[j] /= u[j + j * n];
        for (int i = first; i < j; i++) {
          x[i] -= u[i + j * n] * x[j];
        }
      }
      int tall = (first + TALL - 1) / TALL;
      crew.run(
          tall,
          p -> {
            int bottom = Math.min(first, (p + 1) * TALL);
            for (int j = last - 1; j >= first; j--) {
              for (int i = p * TALL; i < bottom; i++) {
                x[i] -= u[i + j * n] * x[j];
              }
            }
          });
    }
  }
}
