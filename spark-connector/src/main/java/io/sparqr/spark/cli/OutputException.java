/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

/** A result that is there and cannot be written; the message names the path. */
final class OutputException extends RuntimeException {
  private static final long serialVersionUID = 1;

  OutputException(String message, Throwable cause) {
    super(message, cause);
  }
}
