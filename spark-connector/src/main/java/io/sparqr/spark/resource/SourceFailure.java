/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.resource;

/**
 * What the caller's source threw while a task read it, with the place. It is no error of ours, so
 * that Spark tries the task again: another reading may go well. On the driver {@link SparkErrors}
 * makes one of ours of it.
 */
public final class SourceFailure extends RuntimeException {

  private static final long serialVersionUID = 1;

  /** Thrown at a place, such as "row 12 of partition 3". */
  public SourceFailure(String where, Exception thrown) {
    super(where + ": " + SparkErrors.line(thrown), thrown);
  }
}
