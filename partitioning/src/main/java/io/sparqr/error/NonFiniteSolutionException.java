/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.error;

import java.util.OptionalInt;

/**
 * A result that double precision cannot hold: a coefficient or a standard error beyond its range,
 * or a division by a pivot of R that is zero. The input was finite.
 */
public final class NonFiniteSolutionException extends SparseQrException {

  private static final long serialVersionUID = 1;

  private final int column;
  private final int rhs;

  /**
   * The one-line message, and the fields that a program can read.
   *
   * @param column original index of the column whose coefficient, error or pivot it is; -1: none
   * @param rhs right-hand side; -1: none
   */
  public NonFiniteSolutionException(String message, int column, int rhs) {
    super(message);
    this.column = column;
    this.rhs = rhs;
  }

  /** Original index of the column whose coefficient, error or pivot it is, if it is a column's. */
  public OptionalInt column() {
    return column < 0 ? OptionalInt.empty() : OptionalInt.of(column);
  }

  /** The right-hand side, if it is one's. */
  public OptionalInt rhs() {
    return rhs < 0 ? OptionalInt.empty() : OptionalInt.of(rhs);
  }
}
