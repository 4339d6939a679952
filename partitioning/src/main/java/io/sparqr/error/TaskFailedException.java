/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.error;

/**
 * Something that failed while tasks ran and is no error of ours: the source of the rows threw, or
 * Spark gave up. The message is one line that names where, the type of the error and what it said;
 * the cause is the error as it was thrown, where it could be brought to the driver.
 */
public final class TaskFailedException extends SparseQrException {

  private static final long serialVersionUID = 1;

  /** The one-line message, and what was thrown. */
  public TaskFailedException(String message, Throwable cause) {
    super(message, cause);
  }
}
