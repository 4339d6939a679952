/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.matrix.gallery;

import java.io.Serializable;

/**
 * The random model of Candes, Li, Ma, Wright 2011, section 4: L = X Z', X of m x r and Z of n x r
 * with independent normal entries of variance 1 / m and 1 / n, S with signs on a random support,
 * each place with the same probability. Principal component pursuit recovers both exactly, as long
 * as rank and support are small enough. A row depends on its number and the seed alone.
 *
 * @param rows m
 * @param columns n
 * @param rank r
 * @param fraction of the entries of S that are not zero
 * @param seed selects others of the same sizes
 */
public record LowRankPlusSparse(int rows, int columns, int rank, double fraction, long seed)
    implements Serializable {

  private static final long ROW = 0x9e3779b97f4a7c15L;

  /** A row of L, n values. O(n r). */
  public double[] lowRank(int row) {
    var left = new GalleryRandom(seed + (row + 1) * ROW);
    double[] x = new double[rank];
    for (int k = 0; k < rank; k++) {
      x[k] = left.normal() / Math.sqrt(rows);
    }
    var right = new GalleryRandom(seed);
    double[] values = new double[columns];
    for (int j = 0; j < columns; j++) {
      for (int k = 0; k < rank; k++) {
        values[j] += x[k] * right.normal() / Math.sqrt(columns);
      }
    }
    return values;
  }

  /** A row of S, n values: 0, 1, -1. */
  public double[] sparse(int row) {
    var random = new GalleryRandom(~seed + (row + 1) * ROW);
    double[] values = new double[columns];
    for (int j = 0; j < columns; j++) {
      boolean there = random.uniform() < fraction;
      boolean negative = (random.bits() & 1) != 0;
      values[j] = there ? negative ? -1 : 1 : 0;
    }
    return values;
  }

  /** A row of L + S. */
  public double[] row(int row) {
    double[] sum = lowRank(row);
    double[] s = sparse(row);
    for (int j = 0; j < columns; j++) {
      sum[j] += s[j];
    }
    return sum;
  }

  /** All rows of L + S. */
  public double[][] matrix() {
    double[][] all = new double[rows][];
    for (int i = 0; i < rows; i++) {
      all[i] = row(i);
    }
    return all;
  }
}
