/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.error;

import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * NaN or infinity in the input, with the row and the column where these are known. A right-hand
 * side and a weight have no column.
 */
public final class NonFiniteValueException extends SparseQrException {

  private final long row;
  private final int column;

  /**
   * The one-line message, and the fields that a program can read.
   *
   * @param row 0-based; -1: not known
   * @param column 0-based; -1: none
   */
  public NonFiniteValueException(String message, long row, int column) {
    super(message);
    this.row = row;
    this.column = column;
  }

  /** The row, 0-based, if it is known. */
  public OptionalLong row() {
    return row < 0 ? OptionalLong.empty() : OptionalLong.of(row);
  }

  /** The column, 0-based, if it is an entry of the matrix. */
  public OptionalInt column() {
    return column < 0 ? OptionalInt.empty() : OptionalInt.of(column);
  }
}
