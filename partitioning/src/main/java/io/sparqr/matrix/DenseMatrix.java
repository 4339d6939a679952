/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.matrix;

import java.io.Serializable;
import java.util.Arrays;

/**
 * An m x k dense matrix, column-major, leading dimension m: right-hand sides and solutions. The
 * array is shared, not copied.
 *
 * @param rows m
 * @param columns k
 * @param values size m k; entry (i, j) is values[j m + i]
 */
public record DenseMatrix(int rows, int columns, double[] values) implements Serializable {

  /** Checks the size. */
  public DenseMatrix {
    if (rows < 0 || columns < 0 || values.length != (long) rows * columns) {
      throw new IllegalArgumentException(
          rows + " x " + columns + " entries do not fit an array of " + values.length);
    }
  }

  /** Column j as a new array of m entries. */
  public double[] column(int j) {
    return Arrays.copyOfRange(values, j * rows, (j + 1) * rows);
  }

  /** Columns of equal length side by side. */
  public static DenseMatrix ofColumns(int rows, double[]... columns) {
    double[] all = new double[Math.multiplyExact(rows, columns.length)];
    for (int j = 0; j < columns.length; j++) {
      System.arraycopy(columns[j], 0, all, j * rows, rows);
    }
    return new DenseMatrix(rows, columns.length, all);
  }
}
