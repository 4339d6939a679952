/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.gram;

/**
 * Some rows of a front that share their columns: row i of {@code rows} has entries in the piece's
 * columns i .. columns - 1, packed one row after the other. A sparse row is a piece with one row, a
 * child's contribution block one with up to as many rows as columns. A view, filled by {@link
 * RowPieces#piece}; arrays are not copied.
 */
public final class RowPiece {

  static final int[] NO_COLUMNS = {};
  static final double[] NO_VALUES = {};

  int rows;
  int columns;
  int[] column = NO_COLUMNS;
  int columnFrom;
  double[] value = NO_VALUES;
  int valueFrom;
  double[] rhs = NO_VALUES;
  int rhsFrom;

  /** Sets the size: rows at most columns. */
  public RowPiece size(int rowCount, int columnCount) {
    rows = rowCount;
    columns = columnCount;
    return this;
  }

  /** Sets the columns of the front, ascending, from an index of an array on. */
  public RowPiece columnsAt(int[] array, int from) {
    column = array;
    columnFrom = from;
    return this;
  }

  /** Sets the packed values, from an index of an array on. */
  public RowPiece valuesAt(double[] array, int from) {
    value = array;
    valueFrom = from;
    return this;
  }

  /** Sets the rows' right-hand sides, row-major, from an index of an array on. */
  public RowPiece rhsAt(double[] array, int from) {
    rhs = array;
    rhsFrom = from;
    return this;
  }
}
