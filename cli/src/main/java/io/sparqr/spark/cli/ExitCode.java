/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

/** Exit codes of the command line. */
final class ExitCode {

  /** The exit code of a run that failed, unless one of the others fits. */
  static final int FAILED = 1;

  /** Exit code of a wrong command line. */
  static final int USAGE = 2;

  /** Exit code for numbers without a computable answer. */
  static final int NUMERICAL = 3;

  /** Exit code of a doctor that found nothing that would fail, but something to be mended. */
  static final int WARNINGS = 4;

  private ExitCode() {}
}
