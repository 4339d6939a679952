/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.inverse;

import io.sparqr.numeric.dense.BlasLoader;
import io.sparqr.threads.Crew;
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

  /** Shorter tails seldom have children for which products pay. */
  private static final int PASSED = 64;

  /** Largest ||U^-1||^2; 1 if the columns of F are orthogonal. */
  private static final double GROWTH = 32;

  /** Fewer columns have their factors from F as quickly. */
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
   * @param cn columns of the tail, the first of f
   * @param known products of the tail's columns, if they are
   */
  InverseGram(
      double[] f,
      int rows,
      int[] stair,
      int cn,
      InverseFactor.@Nullable Products known,
      Crew crew) {
    this.columns = stair.length;
    this.z = new double[columns * columns];
    // columns of the tail and others are not in one block
    int ofTail = (cn + BLOCK - 1) / BLOCK;
    int blocks = ofTail + (columns - cn + BLOCK - 1) / BLOCK;
    int[] start = new int[blocks + 1];
    for (int p = 0; p <= blocks; p++) {
      start[p] = p < ofTail ? p * BLOCK : Math.min(columns, cn + (p - ofTail) * BLOCK);
    }
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
    var cholesky = new TailCholesky(rows, crew);
    double[] u = cholesky.upper();
    double[] scale = new double[rows];
    for (int j = 0; j < rows; j++) {
      scale[j] = 1 / Math.sqrt(at(column[live[j]], column[live[j]]));
    }
    cholesky.columns(
        (from, to) -> {
          for (int j = from; j < to; j++) {
            int at = column[live[j]] * columns;
            for (int i = 0; i <= j; i++) {
              u[i + j * rows] = z[column[live[i]] + at] * scale[i] * scale[j];
            }
          }
        });
    if (rows > 0 && (!cholesky.factor() || !(cholesky.growth(GROWTH) < GROWTH))) {
      return null;
    }
    double[] values = new double[rows * n];
    cholesky.columns(
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
}
