/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

/** A failure to write a computed result; the message names the path. */
final class OutputException extends RuntimeException {
  private static final long serialVersionUID = 1;

  OutputException(String message, Throwable cause) {
    super(message, cause);
  }
}
