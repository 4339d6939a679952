/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.survey;

import io.sparqr.sparse.CsrMatrix;
import java.util.Arrays;

/** Families of matrices that the gallery does not have, and modifications of any matrix. */
final class Matrices {

  private static final int MOST = Integer.MAX_VALUE - 16;

  private Matrices() {}

  /**
   * {@code blocks} dense blocks of {@code rows} x {@code own} columns of their own, all of them
   * with {@code common} columns at the right; random values. With a staircase row i of a block
   * begins at its column i own / rows.
   */
  static CsrMatrix blocks(
      int blocks, int rows, int own, int common, boolean staircase, SplitMix random) {
    int m = Math.multiplyExact(blocks, rows);
    int[] start = new int[m + 1];
    for (int i = 0; i < m; i++) {
      start[i + 1] = size((long) start[i] + own - first(i % rows, rows, own, staircase) + common);
    }
    int[] index = new int[start[m]];
    double[] value = new double[index.length];
    for (int i = 0; i < m; i++) {
      int at = start[i];
      for (int j = first(i % rows, rows, own, staircase); j < own; j++) {
        index[at++] = i / rows * own + j;
      }
      for (int j = 0; j < common; j++) {
        index[at++] = blocks * own + j;
      }
    }
    Arrays.setAll(value, k -> random.value());
    return new CsrMatrix(m, size((long) blocks * own + common), start, index, value);
  }

  private static int first(int row, int rows, int own, boolean staircase) {
    return staircase ? (int) ((long) row * own / rows) : 0;
  }

  /** Row i has {@code width} entries from column i (n - width) / (m - 1) on; random values. */
  static CsrMatrix band(int m, int n, int width, SplitMix random) {
    int[] start = new int[m + 1];
    int[] index = new int[size((long) m * width)];
    double[] value = new double[index.length];
    for (int i = 0; i < m; i++) {
      int first = (int) ((long) i * (n - width) / Math.max(1, m - 1));
      for (int k = 0; k < width; k++) {
        index[i * width + k] = first + k;
      }
      start[i + 1] = (i + 1) * width;
    }
    Arrays.setAll(value, k -> random.value());
    return new CsrMatrix(m, n, start, index, value);
  }

  /** Row i has about {@code perRow} entries near column i n / m and one anywhere. */
  static CsrMatrix sparse(int m, int n, int perRow, SplitMix random) {
    int[] start = new int[m + 1];
    int[] index = new int[size((long) m * (perRow + 1))];
    int at = 0;
    int[] row = new int[perRow + 1];
    for (int i = 0; i < m; i++) {
      int center = (int) ((long) i * n / m);
      for (int k = 0; k < perRow; k++) {
        row[k] = Math.floorMod(center + random.below(8 * perRow) - 4 * perRow, n);
      }
      row[perRow] = random.below(n);
      Arrays.sort(row);
      for (int k = 0; k <= perRow; k++) {
        if (k == 0 || row[k] != row[k - 1]) {
          index[at++] = row[k];
        }
      }
      start[i + 1] = at;
    }
    double[] value = new double[at];
    Arrays.setAll(value, k -> random.value());
    return new CsrMatrix(m, n, start, Arrays.copyOf(index, at), value);
  }

  /**
   * The same with {@code count} more columns, each a random combination of two of the matrix, all
   * columns then in random order. The rank stays.
   */
  static CsrMatrix dependent(CsrMatrix a, int count, SplitMix random) {
    CsrMatrix t = a.transpose();
    int n = a.columns();
    int[] first = new int[count];
    int[] second = new int[count];
    long entries = a.nonzeros();
    for (int d = 0; d < count; d++) {
      first[d] = random.below(n);
      second[d] = random.below(n);
      entries += length(t, first[d]) + length(t, second[d]);
    }
    int[] order = new int[n + count];
    for (int j = 0; j < order.length; j++) {
      int other = random.below(j + 1);
      order[j] = order[other];
      order[other] = j;
    }
    int[] start = new int[n + count + 1];
    int[] index = new int[size(entries)];
    double[] value = new double[index.length];
    int at = 0;
    for (int p = 0; p < order.length; p++) {
      int d = order[p] - n;
      if (d < 0) {
        int from = t.rowStart()[order[p]];
        System.arraycopy(t.columnIndex(), from, index, at, length(t, order[p]));
        System.arraycopy(t.values(), from, value, at, length(t, order[p]));
        at += length(t, order[p]);
      } else {
        at = combine(t, first[d], second[d], random.value(), random.value(), index, value, at);
      }
      start[p + 1] = at;
    }
    return new CsrMatrix(n + count, a.rows(), start, index, value).transpose();
  }

  private static int length(CsrMatrix t, int j) {
    return t.rowStart()[j + 1] - t.rowStart()[j];
  }

  /** Writes c s + d t of rows s and t of a matrix from {@code at} on; returns the end. */
  private static int combine(
      CsrMatrix t, int p, int q, double c, double d, int[] index, double[] value, int at) {
    int k = t.rowStart()[p];
    int l = t.rowStart()[q];
    while (k < t.rowStart()[p + 1] || l < t.rowStart()[q + 1]) {
      int i = k < t.rowStart()[p + 1] ? t.columnIndex()[k] : Integer.MAX_VALUE;
      int j = l < t.rowStart()[q + 1] ? t.columnIndex()[l] : Integer.MAX_VALUE;
      double x = i <= j ? c * t.values()[k++] : 0;
      double y = j <= i ? d * t.values()[l++] : 0;
      index[at] = Math.min(i, j);
      value[at++] = x + y;
    }
    return at;
  }

  /** The same, {@code percent} of the columns multiplied by 2^k, k random in [-most, most]. */
  static CsrMatrix units(CsrMatrix a, int percent, int most, SplitMix random) {
    double[] factor = new double[a.columns()];
    for (int j = 0; j < factor.length; j++) {
      boolean other = 100 * random.uniform() < percent;
      factor[j] = other ? Math.scalb(1.0, random.below(2 * most + 1) - most) : 1;
    }
    double[] value = new double[a.nonzeros()];
    Arrays.setAll(value, k -> a.values()[k] * factor[a.columnIndex()[k]]);
    return new CsrMatrix(a.rows(), a.columns(), a.rowStart(), a.columnIndex(), value);
  }

  private static int size(long entries) {
    if (entries > MOST) {
      throw new IllegalArgumentException(entries + " entries are too many for one matrix");
    }
    return (int) entries;
  }
}
