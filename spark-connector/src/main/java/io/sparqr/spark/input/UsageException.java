/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.input;

/** An error that can be corrected on the command line; exit code 2. */
public final class UsageException extends RuntimeException {

  public UsageException(String message) {
    super(message);
  }
}
