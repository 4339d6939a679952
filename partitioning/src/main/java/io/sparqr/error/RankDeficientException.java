/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.error;

/** The matrix does not have full column rank and the caller asked for an error in that case. */
public final class RankDeficientException extends SparseQrException {

  private final int rank;
  private final int columns;

  /** The one-line message, and the fields that a program can read. */
  public RankDeficientException(String message, int rank, int columns) {
    super(message);
    this.rank = rank;
    this.columns = columns;
  }

  public int rank() {
    return rank;
  }

  public int columns() {
    return columns;
  }
}
