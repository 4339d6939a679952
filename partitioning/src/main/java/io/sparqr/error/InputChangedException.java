/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.error;

import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * The rows were read more than once and differed: a source that is not deterministic, or a file
 * rewritten in between. No result was computed from them.
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
   * @param partition the partition whose rows differ; -1 if unknown
   * @param firstRows rows of positive weight in the first pass
   * @param laterRows the same in the later pass; -1 if it was not completed
   * @param firstNonzeros nonzero entries of these rows in the first pass
   * @param laterNonzeros the same in the later pass; -1 if it was not completed
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

  /** The partition whose rows differ, if it is known. */
  public OptionalInt partition() {
    return partition < 0 ? OptionalInt.empty() : OptionalInt.of(partition);
  }

  /** Rows of positive weight in the first pass. */
  public long firstRows() {
    return firstRows;
  }

  /** Rows in the later pass, if it was read to its end. */
  public OptionalLong laterRows() {
    return laterRows < 0 ? OptionalLong.empty() : OptionalLong.of(laterRows);
  }

  /** Nonzero entries in the first pass. */
  public long firstNonzeros() {
    return firstNonzeros;
  }

  /** Nonzero entries in the later pass, if it was read to its end. */
  public OptionalLong laterNonzeros() {
    return laterNonzeros < 0 ? OptionalLong.empty() : OptionalLong.of(laterNonzeros);
  }
}
