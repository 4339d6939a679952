/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import io.sparqr.backend.cuda.transfer.DenseRows;
import io.sparqr.error.NonFiniteValueException;
import io.sparqr.numeric.integrity.DenseSums;

/** Powers of two for columns whose squares do not fit into a double as they are. */
final class ColumnScale {

  /** Norms in this range are taken as they are. */
  private static final double LEAST = 0x1p-300;

  private static final double MOST = 0x1p300;

  private ColumnScale() {}

  /** Whether a square is not too large, and a number. */
  static boolean isBelow(double square) {
    return square <= MOST * MOST;
  }

  /**
   * What brings the columns' norms near 1.
   *
   * @param a row-major
   * @param sums of a, as it is
   * @return {@link DenseRows#unscaled} if no column needs it
   * @throws NonFiniteValueException if a value is, naming row and column
   */
  static double[] of(double[] a, int rows, DenseSums sums) {
    boolean plain = true;
    for (double square : sums.square()) {
      // false for NaN; 0 may be an underflow
      plain &= square >= LEAST * LEAST && isBelow(square);
    }
    if (plain) {
      return DenseRows.unscaled();
    }
    int columns = sums.square().length;
    double[] largest = new double[columns];
    for (int i = 0; i < rows; i++) {
      for (int j = 0; j < columns; j++) {
        double x = Math.abs(a[i * columns + j]);
        if (!(x <= Double.MAX_VALUE)) {
          throw new NonFiniteValueException(
              "row %d, column %d is %s".formatted(i, j, a[i * columns + j]), i, j);
        }
        largest[j] = Math.max(largest[j], x);
      }
    }
    double[] scale = new double[columns];
    for (int j = 0; j < columns; j++) {
      // Of the denormals the largest power there is.
      int e = largest[j] == 0 ? 0 : Math.max(-1022, Math.getExponent(largest[j]));
      scale[j] = Math.scalb(1.0, Math.max(-1022, Math.min(1022, -e)));
    }
    return scale;
  }
}
