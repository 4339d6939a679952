/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.integrity;

import io.sparqr.numeric.ContributionBlock;
import java.util.Arrays;

/**
 * The sums of {@link ColumnProbe} over packed rows of fronts, in arrays of one place per column of
 * a front; three multiplications per entry. Sums over one front are uncompensated: the bound of the
 * comparison allows for their error. One instance per thread; buffers are reused.
 */
public final class FrontSums {

  /** Longest run of terms added one after the other; the sums of the runs are then added. */
  private static final int BLOCK = 128;

  private final ColumnProbe probe;

  /**
   * Columns of the fronts since {@link #clear}, one front after the other, with right-hand sides.
   */
  private int[] number = new int[64];

  private double[] squares = new double[64];
  private double[] product = new double[64];

  /** The current front: its first place in these arrays, its columns. */
  private int base;

  private int fn;
  private int used;
  private double[] scale = new double[64];
  private double[] u = new double[64];

  /** What right-hand sides count in the columns' probe. */
  private final double part;

  /** 0, 1, 2, ... */
  private int[] ascending = new int[0];

  /** Sums for rows in the probe's columns. */
  public FrontSums(ColumnProbe probe) {
    this.probe = probe;
    part = probe.right();
  }

  /** Clears the sums of the fronts so far. */
  public void clear() {
    used = 0;
  }

  /**
   * Starts a front.
   *
   * @param numbers the columns' numbers at [from, from + columns)
   */
  public void begin(int[] numbers, int from, int columns) {
    fn = columns;
    base = used;
    int rhs = probe.rhs();
    used = Math.addExact(base, fn + rhs);
    if (number.length < used) {
      int length = Math.max(used, 2 * number.length);
      number = Arrays.copyOf(number, length);
      squares = Arrays.copyOf(squares, length);
      product = Arrays.copyOf(product, length);
    }
    if (scale.length < fn + rhs) {
      scale = new double[Math.max(fn + rhs, 2 * scale.length)];
      u = new double[scale.length];
    }
    System.arraycopy(numbers, from, number, base, fn);
    for (int q = 0; q < rhs; q++) {
      number[base + fn + q] = probe.columns() + q;
    }
    for (int k = 0; k < fn; k++) {
      u[k] = probe.u()[number[base + k]];
    }
    for (int k = probe.plain() ? fn : 0; k < fn + rhs; k++) {
      scale[k] = probe.scale()[number[base + k]];
    }
    Arrays.fill(squares, base, used, 0);
    Arrays.fill(product, base, used, 0);
  }

  /**
   * Adds packed rows, one after the other: row i has the values of columns [first[i], fn), and its
   * right-hand sides are at rightAt + i rhs.
   *
   * @param first ascending; size rows
   */
  public void rows(double[] values, int at, int[] first, int rows, double[] right, int rightAt) {
    rows(values, at, first, 0, rows, right, rightAt);
  }

  /**
   * As above, for rows [from, to) of the front: values and right-hand sides start with row from.
   */
  void rows(double[] values, int at, int[] first, int from, int to, double[] right, int rightAt) {
    int row = at;
    int rhs = probe.rhs();
    int i = from;
    while (i < to) {
      int f = first[i];
      if (probe.plain() && i + 3 < to && first[i + 3] == f + 3) {
        four(values, row, f, right, rightAt + (i - from) * rhs);
        row += 4 * (fn - f) - 6;
        i += 4;
      } else {
        one(values, row - f, f, right, rightAt + (i - from) * rhs);
        row += fn - f;
        i++;
      }
    }
  }

  /**
   * Adds a packed upper trapezoid: row i starts at column i and has fn - i values; its right-hand
   * sides are at rightAt + i rhs.
   */
  public void trapezoid(double[] values, int at, int rows, double[] right, int rightAt) {
    for (int i = ascending.length; i < rows; i = ascending.length) {
      ascending = Arrays.copyOf(ascending, Math.max(rows, 2 * i));
      for (int k = i; k < ascending.length; k++) {
        ascending[k] = k;
      }
    }
    rows(values, at, ascending, rows, right, rightAt);
  }

  /** Clears the sums and adds a contribution block. */
  void block(TaskColumns columns, ContributionBlock b) {
    int[] numbers = new int[b.cn()];
    columns.tailNumbers(b.front(), numbers, 0);
    clear();
    begin(numbers, 0, b.cn());
    trapezoid(b.values(), 0, b.cm(), b.rhs(), 0);
  }

  /** Adds the sums of the fronts since {@link #clear} to those of all columns. */
  public void addTo(ColumnSums sums) {
    double[] unit = probe.scale();
    boolean plain = probe.plain();
    for (int k = 0; k < used; k++) {
      int j = number[k];
      double s = plain && j < probe.columns() ? unit[j] : 1;
      sums.add(j, squares[k] * s * s, product[k] * s);
    }
  }

  private void one(double[] values, int shift, int first, double[] right, int rightAt) {
    double t = dot(values, shift, u, first, fn);
    double both = t + part * right(right, rightAt);
    if (probe.plain()) {
      for (int k = first; k < fn; k++) {
        double w = values[shift + k];
        squares[base + k] += w * w;
        product[base + k] += w * both;
      }
    } else {
      scaled(values, shift, first, fn, both);
    }
    scaled(right, rightAt - fn, fn, fn + probe.rhs(), t);
  }

  /** The sum of a row's scaled right-hand sides. */
  private double right(double[] right, int at) {
    double sum = 0;
    int rhs = probe.rhs();
    for (int q = 0; q < rhs; q++) {
      sum += right[at + q] * scale[fn + q];
    }
    return sum;
  }

  /**
   * Four rows that start at columns f to f + 3, so that the columns' sums are loaded once for all
   * four.
   */
  private void four(double[] values, int at, int f, double[] right, int rightAt) {
    int a = at - f;
    int b = a + fn - f - 1;
    int c = b + fn - f - 2;
    int d = c + fn - f - 3;
    double a0 = values[a + f];
    double a1 = values[a + f + 1];
    double a2 = values[a + f + 2];
    double b1 = values[b + f + 1];
    double b2 = values[b + f + 2];
    double c2 = values[c + f + 2];
    double ta = a0 * u[f] + a1 * u[f + 1] + a2 * u[f + 2];
    double tb = b1 * u[f + 1] + b2 * u[f + 2];
    double tc = c2 * u[f + 2];
    double td = 0;
    for (int block = f + 3; block < fn; block += BLOCK) {
      int end = Math.min(fn, block + BLOCK);
      double sa = 0;
      double sb = 0;
      double sc = 0;
      double sd = 0;
      for (int k = block; k < end; k++) {
        double m = u[k];
        sa += values[a + k] * m;
        sb += values[b + k] * m;
        sc += values[c + k] * m;
        sd += values[d + k] * m;
      }
      ta += sa;
      tb += sb;
      tc += sc;
      td += sd;
    }
    // ta .. td are the right-hand sides' probes; the columns' have right-hand sides in them
    int rhs = probe.rhs();
    double pa = ta + part * right(right, rightAt);
    double pb = tb + part * right(right, rightAt + rhs);
    double pc = tc + part * right(right, rightAt + 2 * rhs);
    double pd = td + part * right(right, rightAt + 3 * rhs);
    int k0 = base + f;
    squares[k0] += a0 * a0;
    product[k0] += a0 * pa;
    squares[k0 + 1] += a1 * a1 + b1 * b1;
    product[k0 + 1] += a1 * pa + b1 * pb;
    squares[k0 + 2] += a2 * a2 + (b2 * b2 + c2 * c2);
    product[k0 + 2] += a2 * pa + (b2 * pb + c2 * pc);
    for (int k = f + 3; k < fn; k++) {
      double wa = values[a + k];
      double wb = values[b + k];
      double wc = values[c + k];
      double wd = values[d + k];
      squares[base + k] += (wa * wa + wb * wb) + (wc * wc + wd * wd);
      product[base + k] += (wa * pa + wb * pb) + (wc * pc + wd * pd);
    }
    for (int q = 0; q < rhs; q++) {
      double s = scale[fn + q];
      double wa = right[rightAt + q] * s;
      double wb = right[rightAt + rhs + q] * s;
      double wc = right[rightAt + 2 * rhs + q] * s;
      double wd = right[rightAt + 3 * rhs + q] * s;
      squares[base + fn + q] += (wa * wa + wb * wb) + (wc * wc + wd * wd);
      product[base + fn + q] += (wa * ta + wb * tb) + (wc * tc + wd * td);
    }
  }

  private void scaled(double[] values, int shift, int from, int to, double t) {
    for (int k = from; k < to; k++) {
      double w = values[shift + k] * scale[k];
      squares[base + k] += w * w;
      product[base + k] += w * t;
    }
  }

  /**
   * A dot product as sums of 512 terms in four accumulators: at most 128 + n / 512 additions deep.
   */
  private static double dot(double[] values, int shift, double[] u, int from, int to) {
    double sum = 0;
    for (int block = from; block < to; block += 512) {
      int end = Math.min(to, block + 512);
      double a = 0;
      double b = 0;
      double c = 0;
      double d = 0;
      int k = block;
      for (; k + 3 < end; k += 4) {
        a += values[shift + k] * u[k];
        b += values[shift + k + 1] * u[k + 1];
        c += values[shift + k + 2] * u[k + 2];
        d += values[shift + k + 3] * u[k + 3];
      }
      for (; k < end; k++) {
        a += values[shift + k] * u[k];
      }
      sum += (a + b) + (c + d);
    }
    return sum;
  }
}
