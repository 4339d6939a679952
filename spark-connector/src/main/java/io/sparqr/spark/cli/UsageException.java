/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

/** Something that another command line would cure; exit code 2. */
final class UsageException extends RuntimeException {

  UsageException(String message) {
    super(message);
  }
}
