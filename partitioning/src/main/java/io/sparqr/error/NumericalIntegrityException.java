/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.error;

import java.util.OptionalInt;

/**
 * A result that is not an orthogonal transformation of its input, even after it was computed again
 * by the safe method, or where it cannot be computed again. Hardware or software is at fault, and
 * there is no answer.
 */
public final class NumericalIntegrityException extends SparseQrException {

  private static final long serialVersionUID = 1;

  /** Neither a column nor a right-hand side is known. */
  private static final int NO_COLUMN = Integer.MIN_VALUE;

  private final int task;
  private final int front;

  /** Column of the input, or right-hand side q as -1 - q. */
  private final int column;

  private final double departure;
  private final double bound;

  /**
   * Describes the failed check.
   *
   * @param task subtree task; -1 if there is none or it is unknown
   * @param front front of the assembly tree
   * @param column column of the input, or right-hand side q as -1 - q
   * @param departure difference of the column's sums relative to its norm; NaN where a value was
   *     not finite
   * @param bound the largest departure allowed
   */
  public NumericalIntegrityException(
      int task, int front, int column, double departure, double bound) {
    super(
        "%sfront %d, %s: the result is not an orthogonal transformation of the rows, twice: sums depart"
                .formatted(
                    task < 0 ? "" : "task " + task + ", ",
                    front,
                    column >= 0 ? "column " + column : "right-hand side " + (-1 - column))
            + " by %.2e of the norm, %.2e is allowed; the machine or its libraries are at fault"
                .formatted(departure, bound));
    this.task = task;
    this.front = front;
    this.column = column;
    this.departure = departure;
    this.bound = bound;
  }

  private NumericalIntegrityException(int task, int front) {
    super(
        "%sfront %d: its rows, or a block that it was given, changed in memory"
            .formatted(task < 0 ? "" : "task " + task + ", ", front));
    this.task = task;
    this.front = front;
    column = NO_COLUMN;
    departure = Double.NaN;
    bound = 0;
  }

  /** The input values of a task have changed since their first use. */
  public static NumericalIntegrityException changedInMemory(int front) {
    return new NumericalIntegrityException(-1, front);
  }

  /** This error with the task's number. */
  public NumericalIntegrityException ofTask(int id) {
    var e =
        column == NO_COLUMN
            ? new NumericalIntegrityException(id, front)
            : new NumericalIntegrityException(id, front, column, departure, bound);
    e.initCause(this);
    return e;
  }

  /** Subtree task, if there is one and it is known. */
  public OptionalInt task() {
    return task < 0 ? OptionalInt.empty() : OptionalInt.of(task);
  }

  /** Front of the assembly tree. */
  public int front() {
    return front;
  }

  /** Column of the input, if the sums that depart are a column's. */
  public OptionalInt column() {
    return column < 0 ? OptionalInt.empty() : OptionalInt.of(column);
  }

  /** Right-hand side, if the sums that depart are one's. */
  public OptionalInt rhs() {
    return column >= 0 || column == NO_COLUMN ? OptionalInt.empty() : OptionalInt.of(-1 - column);
  }

  /** The difference of the column's sums relative to its norm. */
  public double departure() {
    return departure;
  }

  /** The largest departure allowed. */
  public double bound() {
    return bound;
  }
}
