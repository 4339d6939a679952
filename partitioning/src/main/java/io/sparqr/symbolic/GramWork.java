/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

/**
 * What a tree of fronts costs by its Gram matrix, in flops of the same time by reflectors: F'F of
 * its rows and of the blocks that come into it, Cholesky front by front, and the measurement of the
 * result in twice the precision. The units of the parts were measured on two cores with AVX-512.
 */
public final class GramWork {

  /** Reflectors cost at least so many times as much; a smaller gain is lost if one is refused. */
  public static final double GAIN = 2.5;

  /** A tree that costs less by reflectors is over before a measurement pays. */
  public static final double LEAST_FLOPS = 1e7;

  /** Vectors of the measurement. */
  public static final int VECTORS = 8;

  /** A piece of at most so many rows goes to F'F product by product, another one by a block. */
  public static final int FEW_ROWS = 12;

  /**
   * A leaf of at most so many pivots leaves no square: its parent sums the products of its rows.
   */
  public static final int THIN_PIVOTS = 192;

  /**
   * A thin leaf whose parent has more than so many times its columns is subtracted entry by entry,
   * strip by strip; another one as part of a product of matrices, for which all strips wait.
   */
  public static final int SPARSE = 6;

  /** Columns of a strip of a triangle, with what its last columns have below the diagonal. */
  private static final int STRIP = 200;

  /** A triangle of fewer columns is a square. */
  private static final int WHOLE = 1024;

  /** Columns of strips that are summed at a time. */
  private static final int SUMMED = 2048;

  /** The time of adding a product to its place, in flops. */
  private static final double SCATTERED = 40;

  /** The time of an entry of a row in a product of pairs. */
  private static final double ROW_PAIRS = 120;

  /** The time of an entry of R in a product of pairs. */
  private static final double PAIRS = 60;

  /** The time of adding an entry of what a child leaves. */
  private static final double LEFT = 40;

  /** The time of a front's part of all steps beside its flops. */
  private static final double FRONT = 2e5;

  private GramWork() {}

  /** The rows of R of p pivots of a front of n columns: Cholesky, and their part of the rest. */
  public static double pivots(double p, double n, int rhs) {
    double eliminated = p * n * n - p * p * n + p * p * p / 3;
    return eliminated + PAIRS * products(rhs) * entries(p, n) + FRONT;
  }

  /** Entries of p rows of R with n columns. */
  public static double entries(double p, double n) {
    return p * n - p * (p - 1) / 2;
  }

  /** Doubles of a triangle of n columns in strips. */
  public static double triangle(double n) {
    return n <= WHOLE ? n * n : n * (n + STRIP) / 2;
  }

  /**
   * Doubles beside it while products are summed in twice the precision.
   *
   * @param wait whether all strips wait for products of matrices ({@link #SPARSE})
   */
  static double low(double n, boolean wait) {
    return (wait ? n : Math.min(n, 2 * SUMMED)) * n / 2;
  }

  /** What a front leaves to its parent, in so many columns. */
  public static double left(double columns) {
    return LEFT * columns * columns / 2;
  }

  /**
   * A piece of the rows: an upper trapezoid of so many rows and columns, its products and its part
   * of the measurement.
   */
  public static double piece(double rows, double columns, int rhs) {
    double rest = columns - rows;
    double products = (columns * columns * columns - rest * rest * rest) / 6;
    double sum =
        rows <= FEW_ROWS ? SCATTERED * products : 4 * products + SCATTERED * columns * columns / 2;
    return sum + ROW_PAIRS * products(rhs) * (rows * columns - rows * (rows - 1) / 2);
  }

  private static double products(int rhs) {
    return VECTORS + 3 * (rhs + 1);
  }
}
