/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.gram;

import io.sparqr.numeric.dense.ColumnStrips;
import io.sparqr.numeric.dense.DenseKernels;
import io.sparqr.symbolic.GramWork;
import io.sparqr.threads.Crew;
import java.util.Arrays;
import java.util.function.DoubleConsumer;

/**
 * Cholesky factor of a front's Gram matrix, G = R'R, blocked and right-looking, in place of G's
 * upper triangle: the rows of its first p columns, and what is left of the others. A column whose
 * pivot loses nearly all of its digits is <em>weak</em>: it gets no row of R, its entries above are
 * kept, and the others are factored as if it were not there. n^3 / 3 flops for p = n. The bits do
 * not depend on the number of threads.
 */
final class GramCholesky {

  /** A pivot below this part of its column's square is weak: G has too few digits of it. */
  static final double WEAK = 0x1p-33;

  /** So many rows can be factored without the others. */
  static final int ALONE = GramWork.THIN_PIVOTS;

  /** A panel and the strips behind it are strips of the array, or within its only one. */
  private static final int PANEL = ColumnStrips.WIDTH;

  private static final int INNER = 32;

  private final DenseKernels kernels;
  private final int p;
  private final int n;
  private final ColumnStrips a;
  private final double[] squares;
  private final boolean[] weak;
  private final int column;

  /** The lower triangle of the panel's diagonal block, rows of R as columns. */
  private final double[] rows;

  private final int wide;

  /**
   * For G in the upper triangle of an array that is zero below the diagonal.
   *
   * @param p rows that are wanted; only these are there if they are fewer than n and at most {@link
   *     #ALONE}
   * @param squares of the tree's columns
   * @param weak of the tree's columns; set
   * @param column of the tree that is the front's first
   */
  GramCholesky(
      DenseKernels kernels,
      int p,
      int n,
      ColumnStrips array,
      double[] squares,
      boolean[] weak,
      int column) {
    this.kernels = kernels;
    this.p = p;
    this.n = n;
    this.a = array;
    this.squares = squares;
    this.weak = weak;
    this.column = column;
    wide = Math.min(p, PANEL);
    rows = new double[wide * wide];
  }

  /**
   * Factors.
   *
   * @param most weak columns at most
   * @param trailing whether the rows below are wanted
   * @param heard hears the finished fraction of the columns, from the calling thread
   * @return the number of weak columns, or more than the most: there are more
   */
  int factor(int most, boolean trailing, DoubleConsumer heard, Crew crew) {
    int found = 0;
    for (int from = 0; from < p; from += PANEL) {
      int to = Math.min(p, from + PANEL);
      found += diagonal(from, to);
      if (found > most) {
        return found;
      }
      int first = from;
      int before = to / PANEL;
      int strips = (n + PANEL - 1) / PANEL - before;
      // Rows of R behind the panel, without gaps: their array is written while they are read.
      double[] panel = new double[(to - from) * (n - to)];
      crew.run(strips, s -> solve(first, to, Math.max(to, (before + s) * PANEL), panel));
      if (trailing) {
        // The longest first.
        int last = before + strips - 1;
        crew.run(strips, s -> update(first, to, Math.max(to, (last - s) * PANEL), panel));
      }
      heard.accept((double) to / p);
    }
    return found;
  }

  /** Factors a diagonal block column by column: R's rows in place, and transposed in rows. */
  private int diagonal(int from, int to) {
    int b = to - from;
    int found = 0;
    Arrays.fill(rows, 0);
    for (int j = 0; j < b; j++) {
      double[] r = a.array(from + j);
      int at = from + a.at(from + j);
      forward(r, at, j);
      double pivot = r[at + j];
      for (int i = 0; i < j; i++) {
        pivot -= r[at + i] * r[at + i];
        rows[j + i * wide] = r[at + i];
      }
      if (pivot > WEAK * squares[column + from + j]) {
        r[at + j] = Math.sqrt(pivot);
        rows[j + j * wide] = r[at + j];
      } else {
        // NaN is weak too; what is not finite was refused before.
        weak[column + from + j] = true;
        found++;
        r[at + j] = 0;
      }
    }
    return found;
  }

  /** x[at .. at + length) := R^-T x with the leading part of the diagonal block. */
  private void forward(double[] x, int at, int length) {
    for (int k = 0; k < length; k++) {
      double d = rows[k + k * wide];
      if (d == 0) {
        x[at + k] = 0;
        continue;
      }
      double v = x[at + k] / d;
      x[at + k] = v;
      int r = k * wide;
      for (int i = k + 1; i < length; i++) {
        x[at + i] -= v * rows[r + i];
      }
    }
  }

  /** Rows [from, to) of R in a strip of columns, also into the panel. */
  private void solve(int from, int to, int first, double[] panel) {
    int b = to - from;
    int end = end(first);
    int width = end - first;
    double[] c = a.array(first);
    int ld = a.ld(first);
    int top = a.at(first);
    // The rows so far, as columns of the panel's own block.
    double[] above = a.array(from);
    int ldAbove = a.ld(from);
    // By rows, so that the inner loops run over columns.
    var x = new double[Math.min(INNER, b)][width];
    double[] y = new double[x.length * width];
    for (int k = 0; k < b; k += INNER) {
      int inner = Math.min(INNER, b - k);
      int at = top + from + k;
      transpose(c, at, ld, inner, x, width);
      forward(k, inner, x, width);
      transposeBack(x, width, inner, c, at, ld);
      transposeBack(x, width, inner, y, 0, inner);
      int below = k + inner;
      if (below < b) {
        int r = a.at(from + below) + from + k;
        int rest = top + from + below;
        kernels.gemm(
            true, b - below, width, inner, -1, above, r, ldAbove, y, 0, inner, 1, c, rest, ld);
      }
    }
    for (int j = first; j < end; j++) {
      System.arraycopy(c, a.at(j) + from, panel, (j - to) * b, b);
    }
  }

  /** Rows [k, k + inner) of R in some columns, x by rows. */
  private void forward(int k, int inner, double[][] x, int width) {
    for (int i = 0; i < inner; i++) {
      int r = k + i + (k + i) * wide;
      double d = rows[r];
      double[] own = x[i];
      for (int j = 0; j < width; j++) {
        own[j] = d == 0 ? 0 : own[j] / d;
      }
      for (int l = 1; l < inner - i; l++) {
        Trapezoid.subtract(rows[r + l], own, x[i + l], width);
      }
    }
  }

  private static void transpose(double[] from, int at, int ld, int height, double[][] x, int wide) {
    for (int j = 0; j < wide; j++) {
      for (int i = 0; i < height; i++) {
        x[i][j] = from[at + i + j * ld];
      }
    }
  }

  private static void transposeBack(
      double[][] x, int wide, int height, double[] to, int at, int ld) {
    for (int j = 0; j < wide; j++) {
      for (int i = 0; i < height; i++) {
        to[at + i + j * ld] = x[i][j];
      }
    }
  }

  /** Subtracts the panel's part from a strip of columns, from the panel's end to the diagonal. */
  private void update(int from, int to, int first, double[] panel) {
    int end = end(first);
    int b = to - from;
    double[] c = a.array(first);
    // One product over the rows above the strip's last column; those below the diagonal are zeroed.
    int high = end - to;
    int x = (first - to) * b;
    int at = to + a.at(first);
    kernels.gemm(true, high, end - first, b, -1, panel, 0, b, panel, x, b, 1, c, at, a.ld(first));
    for (int j = first; j < end; j++) {
      Arrays.fill(c, a.at(j) + j + 1, a.at(j) + end, 0);
    }
  }

  /** The end of the strip with this column. */
  private int end(int column) {
    return Math.min(n, (column / PANEL + 1) * PANEL);
  }
}
