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

  /** Steps of an estimate. */
  private static final int STEPS = 5;

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
   * Computes Z, about a third of columns^3 flops.
   *
   * @param f rows x columns
   * @param stair ascending: number of leading rows of each column that may have entries
   */
  InverseGram(double[] f, int rows, int[] stair, Crew crew) {
    this.columns = stair.length;
    this.z = new double[columns * columns];
    int blocks = (columns + BLOCK - 1) / BLOCK;
    crew.run(
        blocks * (blocks + 1) / 2,
        p -> {
          int j = (int) ((Math.sqrt(8.0 * p + 1) - 1) / 2);
          j -= j * (j + 1) / 2 > p ? 1 : 0;
          j += (j + 1) * (j + 2) / 2 <= p ? 1 : 0;
          block(f, rows, stair, (p - j * (j + 1) / 2) * BLOCK, j * BLOCK);
        });
  }

  private void block(double[] f, int rows, int[] stair, int i, int j) {
    int m = Math.min(BLOCK, columns - i);
    int n = Math.min(BLOCK, columns - j);
    int k = stair[i + m - 1];
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
   * A trapezoidal factor of Z on some columns.
   *
   * @param column of F, in the factor's order; -1: a column of zeros
   * @return null if Z does not have it to enough digits
   */
  @Nullable InverseFactor factor(int[] column) {
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
    double[] u = new double[kept * (kept + 1)];
    double[] scale = new double[kept];
    for (int j = 0; j < kept; j++) {
      scale[j] = 1 / Math.sqrt(at(column[live[j]], column[live[j]]));
      for (int i = 0; i <= j; i++) {
        u[i + j * kept] = at(column[live[i]], column[live[j]]) * scale[i] * scale[j];
      }
    }
    if (kept > 0 && (!cholesky(u, kept) || !(growth(u, kept) < GROWTH))) {
      return null;
    }
    double[] values = new double[kept * n];
    for (int j = 0; j < kept; j++) {
      for (int i = 0; i <= j; i++) {
        values[i + live[j] * kept] = u[i + j * kept] / scale[j];
      }
    }
    return new InverseFactor(kept, n, values, stair);
  }

  /** U of U'U = G in place of the upper triangle of G, n x n and room for one more column. */
  private static boolean cholesky(double[] g, int n) {
    for (int from = 0; from < n; from += SMALL) {
      int to = Math.min(n, from + SMALL);
      for (int j = from; j < to; j++) {
        for (int i = from; i <= j; i++) {
          double sum = g[i + j * n] - dot(g, from + i * n, from + j * n, i - from);
          if (i < j) {
            g[i + j * n] = sum / g[i + i * n];
          } else if (sum > 0) {
            g[i + i * n] = Math.sqrt(sum);
          } else {
            return false;
          }
        }
      }
      if (to == n) {
        break;
      }
      double[] left = new double[(to - from) * (n - to + 1)];
      for (int j = to; j < n; j++) {
        for (int i = from; i < to; i++) {
          double sum = g[i + j * n] - dot(g, from + i * n, from + j * n, i - from);
          g[i + j * n] = sum / g[i + i * n];
        }
        System.arraycopy(g, from + j * n, left, (j - to) * (to - from), to - from);
      }
      int k = to - from;
      for (int j = to; j < n; j += BLOCK) {
        int width = Math.min(BLOCK, n - j);
        int at = (j - to) * k;
        BlasLoader.kernels()
            .gemm(true, j + width - to, width, k, -1, left, 0, k, left, at, k, 1, g, to + j * n, n);
      }
    }
    return true;
  }

  private static double dot(double[] g, int x, int y, int count) {
    double sum = 0;
    for (int k = 0; k < count; k++) {
      sum += g[x + k] * g[y + k];
    }
    return sum;
  }

  /**
   * An estimate from below of ||U^-1||^2, by inverse iteration with U'U. Starts from normal values:
   * signs may be orthogonal to the difference of two columns.
   */
  private static double growth(double[] u, int n) {
    var random = new SplittableRandom(n);
    double[] x = random.doubles(n).map(v -> random.nextGaussian()).toArray();
    double growth = 1;
    for (int step = 0; step < STEPS; step++) {
      double before = Norms.norm(x, 0, n);
      for (int j = 0; j < n; j++) {
        x[j] = (x[j] / before - product(u, j * n, x, j)) / u[j + j * n];
      }
      for (int j = n - 1; j >= 0; j--) {
        x[j] /= u[j + j * n];
        for (int i = 0; i < j; i++) {
          x[i] -= u[i + j * n] * x[j];
        }
      }
      growth = Norms.norm(x, 0, n);
    }
    return growth;
  }

  private static double product(double[] u, int column, double[] x, int count) {
    double sum = 0;
    for (int k = 0; k < count; k++) {
      sum += u[column + k] * x[k];
    }
    return sum;
  }
}
