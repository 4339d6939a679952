/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

/** Exit codes of the command line. */
final class ExitCode {

  /** Exit code of a failed run. */
  static final int FAILED = 1;

  /** Exit code of a wrong command line. */
  static final int USAGE = 2;

  /** Exit code for numbers without a computable answer. */
  static final int NUMERICAL = 3;

  private ExitCode() {}
}
