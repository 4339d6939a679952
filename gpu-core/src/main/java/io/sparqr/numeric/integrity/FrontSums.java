/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.integrity;

/**
 * The sums of {@link ColumnProbe} over packed rows of one front after the other, in arrays as long
 * as the front has columns; three multiplications an entry. Sums over a front are plain: their
 * error is part of the bound that they are compared with. One instance a thread; buffers are kept.
 */
public final class FrontSums {

  private final ColumnProbe probe;
  private int[] number = new int[0];
  private int fn;
  private double[] scale = new double[64];
  private double[] u = new double[64];
  private double[] squares = new double[64];
  private double[] product = new double[64];

  /** For rows of the columns that the probe has. */
  public FrontSums(ColumnProbe probe) {
    this.probe = probe;
  }

  /**
   * Starts a front.
   *
   * @param numbers the columns' numbers at [from, from + columns); not to be changed before {@link
   *     #addTo}
   */
  public void begin(int[] numbers, int from, int columns) {
    fn = columns;
    int width = fn + probe.rhs();
    if (scale.length < width) {
      int length = Math.max(width, 2 * scale.length);
      scale = new double[length];
      u = new double[length];
      squares = new double[length];
      product = new double[length];
      number = new int[length];
    }
    if (number.length < scale.length) {
      number = new int[scale.length];
    }
    System.arraycopy(numbers, from, number, 0, fn);
    for (int k = 0; k < width; k++) {
      if (k >= fn) {
        number[k] = probe.columns() + k - fn;
      }
      scale[k] = probe.scale()[number[k]];
      u[k] = probe.u()[number[k]];
      squares[k] = 0;
      product[k] = 0;
    }
  }

  /**
   * Adds a row.
   *
   * @param values the row's values of columns [first, fn) from {@code at} on
   * @param right its right-hand sides from {@code rightAt} on
   */
  public void row(double[] values, int at, int first, double[] right, int rightAt) {
    double t = dot(values, at - first, u, first, fn);
    update(values, at - first, first, t);
    for (int k = fn; k < fn + probe.rhs(); k++) {
      double w = right[rightAt + k - fn] * scale[k];
      squares[k] += w * w;
      product[k] += w * t;
    }
  }

  /**
   * Adds a packed upper trapezoid: row i starts at column first + i and has fn - first - i values;
   * its right-hand sides are at rightAt + i rhs.
   */
  public void trapezoid(double[] values, int at, int rows, int first, double[] right, int rightAt) {
    int row = at;
    for (int i = 0; i < rows; i++) {
      row(values, row, first + i, right, rightAt + i * probe.rhs());
      row += fn - first - i;
    }
  }

  /** Adds the front's sums to those of all columns. */
  public void addTo(ColumnSums sums) {
    for (int k = 0; k < fn + probe.rhs(); k++) {
      sums.add(number[k], squares[k], product[k]);
    }
  }

  private void update(double[] values, int shift, int from, double t) {
    double[] s = scale;
    double[] sq = squares;
    double[] pr = product;
    int to = fn;
    for (int k = from; k < to; k++) {
      double w = values[shift + k] * s[k];
      sq[k] += w * w;
      pr[k] += w * t;
    }
  }

  /**
   * Sums of 512 terms by four accumulators, and their sum: at most 128 + n / 512 additions deep.
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
