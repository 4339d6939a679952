/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.integrity;

import io.sparqr.numeric.ContributionBlock;
import java.util.Arrays;

/**
 * The sums of {@link ColumnProbe} over packed rows of fronts, in arrays as long as a front has
 * columns; three multiplications an entry. Columns are scaled once a front, not once an entry, but
 * where a square of theirs might leave the range of a double. Sums over one front are plain: their
 * error is part of the bound that they are compared with. One instance a thread; buffers are kept.
 */
public final class FrontSums {

  /** Entries of columns scaled by 2^e with |e| up to this can be squared as they are. */
  private static final int SQUARABLE = 400;

  /** Terms of one accumulator of a row's sum. */
  private static final int TERMS = 128;

  private final ColumnProbe probe;

  /** The fronts since {@link #clear}, but for the one at hand. */
  private final FewColumns finished;

  /** The front at hand: whether there is one, its columns, their numbers, with right-hand sides. */
  private boolean open;

  private int fn;
  private int[] number = new int[64];
  private double[] scale = new double[64];
  private double[] u = new double[64];

  /** Whether the sums are of entries as they are, to be scaled at the end. */
  private boolean raw;

  private double[] squares = new double[64];
  private double[] product = new double[64];

  /** For rows of the columns that the probe has. */
  public FrontSums(ColumnProbe probe) {
    this.probe = probe;
    finished = new FewColumns(probe.scale().length);
  }

  /** Forgets the fronts so far. */
  public void clear() {
    open = false;
    finished.clear();
  }

  /**
   * Starts a front.
   *
   * @param numbers the columns' numbers at [from, from + columns)
   */
  public void begin(int[] numbers, int from, int columns) {
    finish();
    open = true;
    fn = columns;
    int all = Math.addExact(fn, probe.rhs());
    if (number.length < all) {
      int length = Math.max(all, 2 * number.length);
      number = new int[length];
      scale = new double[length];
      u = new double[length];
      squares = new double[length];
      product = new double[length];
    }
    System.arraycopy(numbers, from, number, 0, fn);
    for (int q = fn; q < all; q++) {
      number[q] = probe.columns() + q - fn;
    }
    raw = true;
    for (int k = 0; k < all; k++) {
      scale[k] = probe.scale()[number[k]];
      u[k] = probe.u()[number[k]];
      raw &= Math.abs(Math.getExponent(scale[k])) <= SQUARABLE;
    }
    Arrays.fill(squares, 0, all, 0);
    Arrays.fill(product, 0, all, 0);
  }

  /** Adds the front at hand to those before. */
  private void finish() {
    if (!open) {
      return;
    }
    open = false;
    for (int k = 0; k < fn + probe.rhs(); k++) {
      double s = raw ? scale[k] : 1;
      finished.add(finished.place(number[k]), squares[k] * s * s, product[k] * s);
    }
  }

  /**
   * Adds packed rows: row i has the values of columns [first[i], fn), one row after the other from
   * {@code at} on; its right-hand sides are at rightAt + i rhs.
   *
   * @param first ascending
   */
  public void rows(double[] values, int at, int[] first, double[] right, int rightAt) {
    int rhs = probe.rhs();
    int shift = at;
    int i = 0;
    for (; raw && i + 3 < first.length; i += 4) {
      int s0 = shift - first[i];
      int s1 = s0 + fn - first[i + 1];
      int s2 = s1 + fn - first[i + 2];
      int s3 = s2 + fn - first[i + 3];
      fourRows(values, new int[] {s0, s1, s2, s3}, first, i, right, rightAt + i * rhs);
      shift = s3 + fn;
    }
    for (; i < first.length; i++) {
      row(values, shift - first[i], first[i], right, rightAt + i * rhs);
      shift += fn - first[i];
    }
  }

  /** Adds a row: its value of column k is at shift + k. */
  private void row(double[] values, int shift, int first, double[] right, int rightAt) {
    double t = dot(values, shift, u, first, fn);
    update(values, shift, first, fn, t);
    update(right, rightAt - fn, fn, fn + probe.rhs(), t);
  }

  /** Adds rows i to i + 3, column k of row i + r at shift[r] + k; entries as they are. */
  private void fourRows(
      double[] values, int[] shift, int[] first, int i, double[] right, int rightAt) {
    int s0 = shift[0];
    int s1 = shift[1];
    int s2 = shift[2];
    int s3 = shift[3];
    int common = first[i + 3];
    double t0 = dot(values, s0, u, first[i], common);
    double t1 = dot(values, s1, u, first[i + 1], common);
    double t2 = dot(values, s2, u, first[i + 2], common);
    double t3 = 0;
    for (int from = common; from < fn; from += TERMS) {
      int to = Math.min(fn, from + TERMS);
      double a = 0;
      double b = 0;
      double c = 0;
      double d = 0;
      for (int k = from; k < to; k++) {
        a += values[s0 + k] * u[k];
        b += values[s1 + k] * u[k];
        c += values[s2 + k] * u[k];
        d += values[s3 + k] * u[k];
      }
      t0 += a;
      t1 += b;
      t2 += c;
      t3 += d;
    }
    update(values, s0, first[i], common, t0);
    update(values, s1, first[i + 1], common, t1);
    update(values, s2, first[i + 2], common, t2);
    for (int k = common; k < fn; k++) {
      double a = values[s0 + k];
      double b = values[s1 + k];
      double c = values[s2 + k];
      double d = values[s3 + k];
      squares[k] += (a * a + b * b) + (c * c + d * d);
      product[k] += (a * t0 + b * t1) + (c * t2 + d * t3);
    }
    int rhs = probe.rhs();
    update(right, rightAt - fn, fn, fn + rhs, t0);
    update(right, rightAt + rhs - fn, fn, fn + rhs, t1);
    update(right, rightAt + 2 * rhs - fn, fn, fn + rhs, t2);
    update(right, rightAt + 3 * rhs - fn, fn, fn + rhs, t3);
  }

  /** Adds a packed upper trapezoid: {@link #rows} of which row i starts at column i. */
  public void trapezoid(double[] values, int at, int rows, double[] right, int rightAt) {
    int[] first = new int[rows];
    Arrays.setAll(first, i -> i);
    rows(values, at, first, right, rightAt);
  }

  /** Forgets the fronts so far and takes a contribution block. */
  void block(TaskColumns columns, ContributionBlock b) {
    int[] numbers = new int[b.cn()];
    columns.tailNumbers(b.front(), numbers, 0);
    clear();
    begin(numbers, 0, b.cn());
    trapezoid(b.values(), 0, b.cm(), b.rhs(), 0);
  }

  /** Adds the sums of the fronts since {@link #clear} to those of all columns. */
  public void addTo(ColumnSums sums) {
    finish();
    finished.addTo(sums);
  }

  private void update(double[] values, int shift, int from, int to, double t) {
    if (raw) {
      for (int k = from; k < to; k++) {
        double v = values[shift + k];
        squares[k] += v * v;
        product[k] += v * t;
      }
      return;
    }
    for (int k = from; k < to; k++) {
      double w = values[shift + k] * scale[k];
      squares[k] += w * w;
      product[k] += w * t;
    }
  }

  /** Sums of 512 terms by four accumulators, and their sum: at most 128 + n / 512 deep. */
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
