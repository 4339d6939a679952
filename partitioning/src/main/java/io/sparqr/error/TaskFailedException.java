/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.error;

import org.jspecify.annotations.Nullable;

/**
 * A failure of tasks that is not an error of Sparqr: the source of the rows threw, or Spark gave
 * up. The message is one line with the place, the type of the error and its message; the cause is
 * the original error if it could be sent to the driver.
 */
public final class TaskFailedException extends SparseQrException {

  private static final long serialVersionUID = 1;

  /** The one-line message, and the original error. */
  public TaskFailedException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
