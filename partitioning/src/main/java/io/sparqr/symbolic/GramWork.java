/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

/**
 * What a front costs by its Gram matrix, in flops of the same time by reflectors: F'F of its rows
 * and its children's blocks, Cholesky, and the measurement of the result in twice the precision.
 * The units of the parts were measured on two cores with AVX-512.
 */
public final class GramWork {

  /** Fronts of fewer columns are over before a measurement pays. */
  public static final int LEAST_COLUMNS = 96;

  /** Reflectors cost at least so many times as much; a smaller gain is lost if one is refused. */
  public static final double GAIN = 4;

  /** Vectors of the measurement. */
  public static final int VECTORS = 8;

  /** A piece of at most so many rows goes to F'F product by product, another one by a block. */
  public static final int FEW_ROWS = 12;

  /** The time of adding a product to its place, and of an entry in a product of pairs, in flops. */
  private static final double SCATTERED = 40;

  private static final double PAIRS = 130;

  private GramWork() {}

  /** Cholesky of a front of n columns, and the triangle's part of the measurement. */
  public static double triangle(double n, int rhs) {
    return n * n * n / 3 + measured(rhs) * n * n / 2;
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
    return sum + measured(rhs) * (rows * columns - rows * (rows - 1) / 2);
  }

  /** Whether reflectors of so many flops cost enough more. */
  public static boolean pays(double reflectors, double gram, double columns) {
    return columns >= LEAST_COLUMNS && reflectors >= GAIN * gram;
  }

  private static double measured(int rhs) {
    return PAIRS * (VECTORS + 3 * (rhs + 1));
  }
}
