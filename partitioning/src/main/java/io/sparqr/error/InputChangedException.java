/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.error;

/**
 * The rows were read more than once, and not the same every time: a source that is not
 * deterministic, a file rewritten in between. Nothing was computed of them.
 */
public final class InputChangedException extends SparseQrException {

  private final int partition;
  private final long firstRows;
  private final long laterRows;
  private final long firstNonzeros;
  private final long laterNonzeros;

  /**
   * The one-line message, and the fields that a program can read.
   *
   * @param partition whose rows differ; -1 if it is not known which
   * @param firstRows rows of positive weight at the first reading
   * @param laterRows at the other one; -1 where it could not be read to its end
   * @param firstNonzeros their entries that are not zero
   * @param laterNonzeros at the other one; -1 where it could not be read to its end
   */
  public InputChangedException(
      String message,
      int partition,
      long firstRows,
      long laterRows,
      long firstNonzeros,
      long laterNonzeros) {
    super(message);
    this.partition = partition;
    this.firstRows = firstRows;
    this.laterRows = laterRows;
    this.firstNonzeros = firstNonzeros;
    this.laterNonzeros = laterNonzeros;
  }

  /** Whose rows differ; -1 if it is not known which. */
  public int partition() {
    return partition;
  }

  /** Rows of positive weight at the first reading. */
  public long firstRows() {
    return firstRows;
  }

  /** The same at the other one; -1 where it could not be read to its end. */
  public long laterRows() {
    return laterRows;
  }

  /** Entries that are not zero at the first reading. */
  public long firstNonzeros() {
    return firstNonzeros;
  }

  /** The same at the other one; -1 where it could not be read to its end. */
  public long laterNonzeros() {
    return laterNonzeros;
  }
}
