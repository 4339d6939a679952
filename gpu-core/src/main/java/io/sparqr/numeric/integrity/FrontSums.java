/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.integrity;

import io.sparqr.numeric.ContributionBlock;
import java.util.Arrays;

/**
 * The sums of {@link ColumnProbe} over packed rows of fronts, in arrays as long as the fronts have
 * columns; three multiplications an entry. Sums over one front are plain: their error is part of
 * the bound that they are compared with. One instance a thread; buffers are kept.
 */
public final class FrontSums {

  private final ColumnProbe probe;

  /**
   * Columns of the fronts since {@link #clear}, one front after the other, with right-hand sides.
   */
  private int[] number = new int[64];

  private double[] squares = new double[64];
  private double[] product = new double[64];

  /** The front at hand: its first place in these arrays, its columns. */
  private int base;

  private int fn;
  private int used;
  private double[] scale = new double[64];
  private double[] u = new double[64];

  /** For rows of the columns that the probe has. */
  public FrontSums(ColumnProbe probe) {
    this.probe = probe;
  }

  /** Forgets the fronts so far. */
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
    for (int k = 0; k < fn + rhs; k++) {
      int j = number[base + k];
      scale[k] = probe.scale()[j];
      u[k] = probe.u()[j];
    }
    Arrays.fill(squares, base, used, 0);
    Arrays.fill(product, base, used, 0);
  }

  /**
   * Adds a row.
   *
   * @param values the row's values of columns [first, fn) from {@code at} on
   * @param right its right-hand sides from {@code rightAt} on
   */
  public void row(double[] values, int at, int first, double[] right, int rightAt) {
    double t = dot(values, at - first, u, first, fn);
    update(values, at - first, first, fn, scale, t, squares, product, base);
    update(right, rightAt - fn, fn, fn + probe.rhs(), scale, t, squares, product, base);
  }

  /**
   * Adds a packed upper trapezoid: row i starts at column i and has fn - i values; its right-hand
   * sides are at rightAt + i rhs.
   */
  public void trapezoid(double[] values, int at, int rows, double[] right, int rightAt) {
    int row = at;
    for (int i = 0; i < rows; i++) {
      row(values, row, i, right, rightAt + i * probe.rhs());
      row += fn - i;
    }
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
    for (int k = 0; k < used; k++) {
      sums.add(number[k], squares[k], product[k]);
    }
  }

  private static void update(
      double[] values,
      int shift,
      int from,
      int to,
      double[] scale,
      double t,
      double[] squares,
      double[] product,
      int base) {
    for (int k = from; k < to; k++) {
      double w = values[shift + k] * scale[k];
      squares[base + k] += w * w;
      product[base + k] += w * t;
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
