/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import io.sparqr.spark.AnalysisReport;
import io.sparqr.spark.SolveReport;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Supplier;
import picocli.CommandLine.Option;

/** Where a command leaves what it found out beside its result, of a failed run too. */
class ReportOptions {

  @Option(
      names = "--report",
      paramLabel = "FILE",
      description =
          "the report: as a page with pictures where the name ends in .html, otherwise as JSON, of a"
              + " failed run as far as it came, with the error")
  private Path report;

  @Option(names = "--overwrite", description = "replace existing files")
  private boolean overwrite;

  final FailedRun failed = new FailedRun();

  /**
   * Refuses files that are there, or are one.
   *
   * @param out the command's own result; null: none is asked for
   * @throws UsageException saying which
   */
  void check(Path out) {
    Outputs.check(out, overwrite);
    Outputs.check(report, overwrite);
    if (out != null && report != null && out.toAbsolutePath().equals(report.toAbsolutePath())) {
      throw new UsageException("--out and --report are the same file");
    }
  }

  /** Whether the report is one for people, with pictures. */
  boolean isPage() {
    return FailedRun.isPage(report);
  }

  /** The command's files, the report not yet among them. */
  Outputs outputs() {
    return new Outputs(overwrite);
  }

  /** Adds the report, where one was asked for. */
  void add(Outputs outputs, SolveReport made) {
    add(outputs, made::toHtml, made::toJson);
  }

  /** The same of a command that solves nothing. */
  void add(Outputs outputs, AnalysisReport made) {
    add(outputs, made::toHtml, made::toJson);
  }

  private void add(Outputs outputs, Supplier<String> page, Supplier<String> json) {
    if (report != null) {
      String text = isPage() ? page.get() : json.get() + "\n";
      outputs.add(report, file -> Files.writeString(file, text));
    }
  }

  /**
   * Writes the report of a failed run, where one was asked for.
   *
   * @return what is to be said where it could not be written
   */
  Optional<String> writeFailed(Throwable e, double readSeconds, double elapsed) {
    return failed
        .write(report, overwrite, e, readSeconds, elapsed)
        .map(why -> report + ": no report, " + why);
  }
}
