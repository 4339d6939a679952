/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.engine;

/**
 * An exception thrown by the caller's source when a task read it, with the place. It is not a
 * {@code SparseQrException}, so Spark repeats the task: another attempt may succeed. On the driver,
 * {@link SparkErrors} converts it into one.
 */
public final class SourceFailure extends RuntimeException {

  private static final long serialVersionUID = 1;

  /** A failure at a place, such as "row 12 of partition 3". */
  public SourceFailure(String where, Exception thrown) {
    super(where + ": " + SparkErrors.line(thrown), thrown);
  }
}
