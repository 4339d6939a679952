/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.inverse;

import io.sparqr.numeric.ContributionBlock;
import org.jspecify.annotations.Nullable;

/**
 * F with F'F = (R'R)^-1 on a front's tail, an upper trapezoid. The columns are in reverse order:
 * column c belongs to the tail's column {@code columns - 1 - c}, so that leaving out columns of a
 * front leaves F nearly triangular.
 *
 * @param rows number of rows, at most columns
 * @param columns length of the tail
 * @param values rows x columns, column-major
 * @param stair size columns, ascending: column c has entries only in rows [0, stair[c])
 * @param products F'F, if the factor was made from it
 */
record InverseFactor(
    int rows, int columns, double[] values, int[] stair, @Nullable Products products) {

  /**
   * Products of the columns, as the front above has them; holds on to them until its own front is
   * done.
   *
   * @param column size columns: which of its columns; -1: a column of zeros
   */
  record Products(InverseGram of, int[] column) {}

  /** A factor that was not made from its products. */
  InverseFactor(int rows, int columns, double[] values, int[] stair) {
    this(rows, columns, values, stair, null);
  }

  /** The factor for no columns, or if all columns are dead. */
  static InverseFactor zero(int columns) {
    return new InverseFactor(0, columns, new double[0], new int[columns]);
  }

  /** Packs the factor for a task of a lower level. */
  ContributionBlock pack(int front) {
    double[] packed = new double[Math.toIntExact(ContributionBlock.packedLength(rows, columns))];
    int at = 0;
    for (int i = 0; i < rows; i++) {
      for (int c = i; c < columns; c++) {
        packed[at++] = values[i + c * rows];
      }
    }
    return new ContributionBlock(front, rows, columns, packed, new double[0], 0);
  }

  /** The inverse of {@link #pack}. */
  static InverseFactor unpack(ContributionBlock b) {
    int rows = b.cm();
    int columns = b.cn();
    double[] full = new double[Math.multiplyExact(rows, columns)];
    int[] stair = new int[columns];
    int at = 0;
    for (int i = 0; i < rows; i++) {
      for (int c = i; c < columns; c++) {
        full[i + c * rows] = b.values()[at++];
      }
    }
    for (int c = 0; c < columns; c++) {
      stair[c] = Math.min(c + 1, rows);
    }
    return new InverseFactor(rows, columns, full, stair);
  }
}
