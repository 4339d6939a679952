/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

/** An error that can be corrected on the command line; exit code 2. */
final class UsageException extends RuntimeException {

  UsageException(String message) {
    super(message);
  }
}
