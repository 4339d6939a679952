/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.dependence;

import java.util.Arrays;

/**
 * A vector over the columns by its nonzeros.
 *
 * @param column ascending
 * @param value same length
 */
record SparseVector(int[] column, double[] value) {

  /**
   * The vector from column k of an n x width array in row-major order: values above drop times its
   * largest.
   */
  static SparseVector of(double[] z, int k, int width, double drop) {
    int n = z.length / width;
    double most = 0;
    for (int j = 0; j < n; j++) {
      most = Math.max(most, Math.abs(z[j * width + k]));
    }
    int count = 0;
    int[] column = new int[16];
    double[] value = new double[16];
    for (int j = 0; j < n; j++) {
      double v = z[j * width + k];
      if (Math.abs(v) > drop * most) {
        if (count == column.length) {
          column = Arrays.copyOf(column, 2 * count);
          value = Arrays.copyOf(value, 2 * count);
        }
        column[count] = j;
        value[count++] = v;
      }
    }
    return new SparseVector(Arrays.copyOf(column, count), Arrays.copyOf(value, count));
  }

  /** Number of nonzeros. */
  int count() {
    return column.length;
  }

  /** Value at a column. O(log nonzeros). */
  double at(int j) {
    int i = Arrays.binarySearch(column, j);
    return i < 0 ? 0 : value[i];
  }

  /** 2-norm. */
  double norm() {
    double most = 0;
    for (double v : value) {
      most = Math.max(most, Math.abs(v));
    }
    double sum = 0;
    for (double v : value) {
      sum += v / most * (v / most);
    }
    return most * Math.sqrt(sum);
  }

  /** This times a factor. */
  SparseVector times(double factor) {
    double[] v = value.clone();
    for (int i = 0; i < v.length; i++) {
      v[i] *= factor;
    }
    return new SparseVector(column, v);
  }

  /**
   * This minus factor times another. A difference of at most {@code drop} times its terms is a
   * rounding error, and left out; so is column {@code gone}. O(nonzeros of both).
   */
  SparseVector minus(double factor, SparseVector other, int gone, double drop) {
    int[] c = new int[count() + other.count()];
    double[] v = new double[c.length];
    int n = 0;
    int i = 0;
    int k = 0;
    while (i < count() || k < other.count()) {
      int a = i < count() ? column[i] : Integer.MAX_VALUE;
      int b = k < other.count() ? other.column[k] : Integer.MAX_VALUE;
      int j = Math.min(a, b);
      double mine = a == j ? value[i++] : 0;
      double theirs = b == j ? factor * other.value[k++] : 0;
      double d = mine - theirs;
      if (j != gone && Math.abs(d) > drop * (Math.abs(mine) + Math.abs(theirs))) {
        c[n] = j;
        v[n++] = d;
      }
    }
    return new SparseVector(Arrays.copyOf(c, n), Arrays.copyOf(v, n));
  }
}
