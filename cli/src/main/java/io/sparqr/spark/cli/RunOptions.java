/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import io.sparqr.backend.BackendChoice;
import picocli.CommandLine.Option;

/** The options shared by the commands that compute: resources, and report files. */
final class RunOptions extends ReportOptions {

  @Option(
      names = "--backend",
      paramLabel = "NAME",
      converter = BackendName.class,
      completionCandidates = BackendName.Candidates.class,
      defaultValue = "auto",
      description = "${COMPLETION-CANDIDATES}; cuda fails where there is none")
  BackendChoice backend;
}
