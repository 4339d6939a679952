/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.dense;

/**
 * An upper trapezoidal matrix by columns, in strips of {@link #WIDTH} columns with an array each,
 * as high as the strip's last entry above the diagonal. So a triangle takes half of its square, no
 * number of entries is too large for an array, and a heap that does not move large arrays need not
 * have all of it in one piece. A matrix of few columns is one strip. Blocks of a strip are
 * column-major, as dense kernels want them, with a column of room behind the last.
 */
public final class ColumnStrips {

  /** Columns of a strip; a multiple of the strips in which fronts are copied. */
  public static final int WIDTH = 192;

  /** Up to so many columns are one strip. */
  static final int WHOLE = 1024;

  /** Pages of arrays whose columns are a multiple of 4096 bytes apart thrash the cache. */
  private static final int PAGE = 512;

  private static final int PAD = 8;

  private final int rows;
  private final int columns;
  private final double[][] strip;
  private final int[] ld;

  /** Zeros. */
  public ColumnStrips(int rows, int columns) {
    this.rows = rows;
    this.columns = columns;
    int width = columns <= WHOLE ? Math.max(1, columns) : WIDTH;
    int count = Math.max(1, (columns + width - 1) / width);
    strip = new double[count][];
    ld = new int[count];
    for (int s = 0; s < count; s++) {
      ld[s] = leadingDimension(height(s * width));
      int wide = Math.min(columns, (s + 1) * width) - s * width;
      strip[s] = new double[Math.multiplyExact(ld[s], wide + 1)];
    }
  }

  /** A column-major array as one strip. */
  public ColumnStrips(double[] array, int leadingDimension, int rows, int columns) {
    this.rows = rows;
    this.columns = columns;
    strip = new double[][] {array};
    ld = new int[] {leadingDimension};
  }

  /** Doubles of so many rows and columns. O(columns / width). */
  public static long length(long rows, long columns) {
    if (columns <= WHOLE) {
      return leadingDimension(rows) * (columns + 1);
    }
    long sum = 0;
    for (long from = 0; from < columns; from += WIDTH) {
      long end = Math.min(columns, from + WIDTH);
      sum += leadingDimension(Math.min(rows, end)) * (end - from + 1);
    }
    return sum;
  }

  private static int leadingDimension(int height) {
    return height > 0 && height % PAGE == 0 ? height + PAD : height;
  }

  private static long leadingDimension(long height) {
    return height > 0 && height % PAGE == 0 ? height + PAD : height;
  }

  private int strip(int j) {
    return strip.length == 1 ? 0 : j / WIDTH;
  }

  /** Rows that column j has: all to the end of its strip. */
  public int height(int j) {
    return strip.length == 1
        ? rows
        : (int) Math.min(rows, Math.min(columns, (j / WIDTH + 1L) * WIDTH));
  }

  /** The array with column j. */
  public double[] array(int j) {
    return strip[strip(j)];
  }

  /** Where column j begins in its array. */
  public int at(int j) {
    int s = strip(j);
    return (j - s * WIDTH) * ld[s];
  }

  /** The distance of columns in the array of column j. */
  public int ld(int j) {
    return ld[strip(j)];
  }

  /** Entry (i, j), i below the height of column j. */
  public double get(int i, int j) {
    return array(j)[at(j) + i];
  }

  /** Columns. */
  public int columns() {
    return columns;
  }

  /** Doubles. */
  public long length() {
    long sum = 0;
    for (double[] part : strip) {
      sum += part.length;
    }
    return sum;
  }

  /** Copies the first rows, as far as they are there, into a column-major array of zeros. */
  public void copyTo(double[] to, int leadingDimension, int count) {
    for (int j = 0; j < columns; j++) {
      System.arraycopy(array(j), at(j), to, j * leadingDimension, Math.min(count, height(j)));
    }
  }
}
