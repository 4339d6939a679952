/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.inverse;

import io.sparqr.numeric.dense.BlasLoader;
import io.sparqr.spark.solve.Norms;
import io.sparqr.threads.Crew;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Z = F'F of a front with many children, such as the firms' front above all workers: the factors on
 * their tails then follow from entries of Z, by Cholesky, instead of from columns of F as long as
 * the front, by QR.
 *
 * <p>Z's entries have rounding errors u relative to the norms of two of F's columns. With a tail's
 * block scaled to a diagonal of ones, and its factor U, a sum w'Zw over the tail has therefore a
 * relative error of about u ||U^-1||^2. Where that square exceeds {@value #GROWTH}, the caller goes
 * back to F.
 */
final class InverseGram {

  /** Flops for F's columns on a child's tail over those for Z, by BLAS, that take as long. */
  private static final double SLOWER = 8;

  private static final int BLOCK = 128;

  /** Rows of a block of products, and columns between two steps of a triangular solve. */
  private static final int TALL = 512;

  /** Shorter tails seldom have children for which products pay. */
  private static final int PASSED = 64;

  /** With fewer columns, sharing does not pay. */
  private static final int SHARED = 384;

  /** Steps of an estimate. */
  private static final int STEPS = 5;

  /** Part of a start, of which the average is 1 / sqrt(n), that one start in 125 is below. */
  private static final double LEAST_PART = 0.01;

  /** Largest ||U^-1||^2; 1 if the columns of F are orthogonal. */
  private static final double GROWTH = 32;

  /** Longest tail whose factor is found without BLAS. */
  private static final int SMALL = 32;

  /** Squares of norms in this range have neither over- nor underflowed. */
  private static final double RANGE = 1e200;

  private final int columns;

  /** By column of F; the part [i <= j] at i + j * columns. */
  private final double[] z;

  /**
   * Whether it pays.
   *
   * @param squares sum of the squares of the children's tails' lengths
   */
  static boolean pays(double squares, int columns) {
    return columns > SMALL
        && (long) columns * columns < Integer.MAX_VALUE - 8
        && SLOWER * squares > (double) columns * columns;
  }

  /**
   * Computes Z, about a third of columns^3 flops; where the products of the tail's columns are
   * known, about rows x columns for each of the others.
   *
   * @param f rows x columns
   * @param stair ascending: number of leading rows of each column that may have entries
   * @param tail whose columns are the first of f
   */
  InverseGram(double[] f, int rows, int[] stair, InverseFactor tail, Crew crew) {
    this.columns = stair.length;
    this.z = new double[columns * columns];
    int cn = tail.columns();
    // columns of the tail and others are not in one block
    int ofTail = (cn + BLOCK - 1) / BLOCK;
    int blocks = ofTail + (columns - cn + BLOCK - 1) / BLOCK;
    int[] start = new int[blocks + 1];
    for (int p = 0; p <= blocks; p++) {
      start[p] = p < ofTail ? p * BLOCK : Math.min(columns, cn + (p - ofTail) * BLOCK);
    }
    InverseFactor.Products known = tail.products();
    crew.run(
        blocks * (blocks + 1) / 2,
        p -> {
          int j = (int) ((Math.sqrt(8.0 * p + 1) - 1) / 2);
          j -= j * (j + 1) / 2 > p ? 1 : 0;
          j += (j + 1) * (j + 2) / 2 <= p ? 1 : 0;
          int i = p - j * (j + 1) / 2;
          if (known != null && j < ofTail) {
            copy(known, start[i], start[i + 1], start[j], start[j + 1]);
          } else {
            block(f, rows, stair, start[i], start[i + 1], start[j], start[j + 1]);
          }
        });
  }

  private void copy(InverseFactor.Products known, int i, int iEnd, int j, int jEnd) {
    double[] from = known.of().z;
    for (int d = j; d < jEnd; d++) {
      int at = known.column()[d] * known.of().columns;
      for (int c = i; c < Math.min(iEnd, d + 1) && at >= 0; c++) {
        int row = known.column()[c];
        z[c + d * columns] = row < 0 ? 0 : from[at + row];
      }
    }
  }

  private void block(double[] f, int rows, int[] stair, int i, int iEnd, int j, int jEnd) {
    int m = iEnd - i;
    int n = jEnd - j;
    int k = stair[iEnd - 1];
    if (k > 0) {
      int c = i + j * columns;
      BlasLoader.kernels()
          .gemm(true, m, n, k, 1, f, i * rows, rows, f, j * rows, rows, 0, z, c, columns);
    }
  }

  private double at(int i, int j) {
    return z[Math.min(i, j) + Math.max(i, j) * columns];
  }

  /**
   * Z on some columns of F, of these the columns [from, to).
   *
   * @param column of F; -1: a column of zeros
   * @return column.length x (to - from), row-major
   */
  double[] block(int[] column, int from, int to) {
    int width = to - from;
    double[] block = new double[Math.multiplyExact(column.length, width)];
    for (int k = from; k < to; k++) {
      for (int i = 0; i < column.length && column[k] >= 0; i++) {
        if (column[i] >= 0) {
          block[i * width + k - from] = at(column[i], column[k]);
        }
      }
    }
    return block;
  }

  /**
   * A trapezoidal factor of Z on some columns.
   *
   * @param column of F, ascending but for -1: a column of zeros
   * @param crew threads that may help; the bits do not depend on them
   * @return null if Z does not have it to enough digits
   */
  @Nullable InverseFactor factor(int[] column, Crew crew) {
    int n = column.length;
    int[] stair = new int[n];
    int[] live = new int[n];
    int kept = 0;
    for (int k = 0; k < n; k++) {
      double square = column[k] < 0 ? 0 : at(column[k], column[k]);
      if (square > 0) {
        if (!(square > 1 / RANGE && square < RANGE)) {
          return null;
        }
        live[kept++] = k;
      } else if (column[k] >= 0) {
        // dead, or below the range
        return null;
      }
      stair[k] = kept;
    }
    int rows = kept;
    double[] u = new double[rows * (rows + 1)];
    double[] scale = new double[rows];
    for (int j = 0; j < rows; j++) {
      scale[j] = 1 / Math.sqrt(at(column[live[j]], column[live[j]]));
    }
    strips(
        0,
        rows,
        helpers(rows, crew),
        (from, to) -> {
          for (int j = from; j < to; j++) {
            int at = column[live[j]] * columns;
            for (int i = 0; i <= j; i++) {
              u[i + j * rows] = z[column[live[i]] + at] * scale[i] * scale[j];
            }
          }
        });
    if (rows > 0 && (!cholesky(u, rows, 0, rows, crew) || !(growth(u, rows, crew) < GROWTH))) {
      return null;
    }
    double[] values = new double[rows * n];
    strips(
        0,
        rows,
        helpers(rows, crew),
        (from, to) -> {
          for (int j = from; j < to; j++) {
            for (int i = 0; i <= j; i++) {
              values[i + live[j] * rows] = u[i + j * rows] / scale[j];
            }
          }
        });
    var products = n < PASSED ? null : new InverseFactor.Products(this, column);
    return new InverseFactor(rows, n, values, stair, products);
  }

  private static Crew helpers(int columns, Crew crew) {
    return columns < SHARED ? Crew.ALONE : crew;
  }

  /** Columns [from, to), {@value #BLOCK} at a time. */
  private static void strips(int from, int to, Crew crew, Strip strip) {
    int count = (to - from + BLOCK - 1) / BLOCK;
    crew.run(count, p -> strip.accept(from + p * BLOCK, Math.min(to, from + (p + 1) * BLOCK)));
  }

  private interface Strip {
    void accept(int from, int to);
  }

  /**
   * U of U'U = G in place of the upper triangle of G, n x n and room for one more column, in rows
   * and columns [from, to), by halves, so that most is products of large blocks.
   */
  private static boolean cholesky(double[] g, int n, int from, int to, Crew crew) {
    if (to - from <= SMALL) {
      for (int j = from; j < to; j++) {
        for (int i = from; i < j; i++) {
          double sum = g[i + j * n] - dot(g, from + i * n, g, from + j * n, i - from);
          g[i + j * n] = sum / g[i + i * n];
        }
        double sum = g[j + j * n] - dot(g, from + j * n, g, from + j * n, j - from);
        if (!(sum > 0)) {
          return false;
        }
        g[j + j * n] = Math.sqrt(sum);
      }
      return true;
    }
    int half = half(from, to);
    if (!cholesky(g, n, from, half, crew)) {
      return false;
    }
    Crew helpers = helpers(to - from, crew);
    strips(half, to, helpers, (left, right) -> solveTransposed(g, n, from, half, left, right));
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
            subtract(g, n, from, half, top, Math.min(right, top + TALL), left, right);
          }
        });
    return cholesky(g, n, half, to, crew);
  }

  /** Rows [from, to) of U'^-1 G in columns [left, right), U in the same rows. */
  private static void solveTransposed(double[] g, int n, int from, int to, int left, int right) {
    if (to - from <= SMALL) {
      solveSmall(g, n, from, to - from, left, right);
      return;
    }
    int half = half(from, to);
    solveTransposed(g, n, from, half, left, right);
    subtract(g, n, from, half, half, to, left, right);
    solveTransposed(g, n, half, to, left, right);
  }

  /** The same for k rows, by their triangle's inverse: one product for many columns. */
  private static void solveSmall(double[] g, int n, int from, int k, int left, int right) {
    double[] inverse = new double[k * k];
    for (int j = 0; j < k; j++) {
      int at = from + (from + j) * n;
      double pivot = g[at + j];
      inverse[j + j * k] = 1 / pivot;
      for (int i = 0; i < j; i++) {
        double sum = 0;
        for (int l = i; l < j; l++) {
          sum += inverse[i + l * k] * g[at + l];
        }
        inverse[i + j * k] = -sum / pivot;
      }
    }
    int count = right - left;
    double[] x = new double[k * count];
    int b = from + left * n;
    BlasLoader.kernels().gemm(true, k, count, k, 1, inverse, 0, k, g, b, n, 0, x, 0, k);
    for (int j = 0; j < count; j++) {
      System.arraycopy(x, j * k, g, b + j * n, k);
    }
  }

  private static int half(int from, int to) {
    int blocks = (to - from + SMALL - 1) / SMALL;
    return from + (blocks + 1) / 2 * SMALL;
  }

  /** G in rows [top, bottom) and columns [left, right) minus the products of rows [from, to). */
  private static void subtract(
      double[] g, int n, int from, int to, int top, int bottom, int left, int right) {
    int m = bottom - top;
    int k = to - from;
    int a = from + top * n;
    int b = from + left * n;
    BlasLoader.kernels()
        .gemm(true, m, right - left, k, -1, g, a, n, g, b, n, 1, g, top + left * n, n);
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
   */
  private static double growth(double[] u, int n, Crew crew) {
    var random = new SplittableRandom(n);
    double[] x = random.doubles(n).map(v -> random.nextGaussian()).toArray();
    Crew helpers = helpers(n, crew);
    double growth = 1;
    double all = 1;
    double room = Math.sqrt(n) / LEAST_PART;
    for (int step = 0; step < STEPS; step++) {
      forward(u, n, x, Norms.norm(x, 0, n), helpers);
      backward(u, n, x, helpers);
      growth = Norms.norm(x, 0, n);
      all *= growth;
      if (Math.pow(all * room, 1.0 / (step + 1)) < GROWTH) {
        break;
      }
    }
    return growth;
  }

  /** U'^-1 x / before, in place. */
  private static void forward(double[] u, int n, double[] x, double before, Crew crew) {
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
  private static void backward(double[] u, int n, double[] x, Crew crew) {
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
