/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.error;

/**
 * NaN or infinity in the input: the row (or -1) and the column (or -1 for the right-hand side or a
 * weight).
 */
public final class NonFiniteValueException extends SparseQrException {

  private final long row;
  private final int column;

  /** The one-line message, and the fields that a program can read. */
  public NonFiniteValueException(String message, long row, int column) {
    super(message);
    this.row = row;
    this.column = column;
  }

  public long row() {
    return row;
  }

  public int column() {
    return column;
  }
}
