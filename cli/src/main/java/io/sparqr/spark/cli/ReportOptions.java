/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import io.sparqr.spark.input.UsageException;
import io.sparqr.spark.report.AnalysisReport;
import io.sparqr.spark.report.SolveReport;
import io.sparqr.spark.report.TallReport;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The report files of a command, written for failed runs too. */
class ReportOptions {

  @Option(
      names = "--report",
      paramLabel = "FILE",
      description =
          "the report: as a page with pictures where the name ends in .html, otherwise as JSON, of a"
              + " failed run as far as it came, with the error")
  private @Nullable Path report;

  @Option(names = "--overwrite", description = "replace existing files")
  private boolean overwrite;

  final FailedRun failed = new FailedRun();

  /**
   * Rejects existing files and duplicates.
   *
   * @param out the command's own result, if requested
   * @throws UsageException naming the file
   */
  void check(@Nullable Path out) {
    Outputs.check(out, overwrite);
    Outputs.check(report, overwrite);
    if (out != null && report != null && out.toAbsolutePath().equals(report.toAbsolutePath())) {
      throw new UsageException("--out and --report are the same file");
    }
  }

  /** Whether the report is an HTML page with charts. */
  boolean isPage() {
    return FailedRun.isPage(report);
  }

  /** The output files of the command, so far without the report. */
  Outputs outputs() {
    return new Outputs(overwrite);
  }

  /** Adds the report if one was requested. */
  void add(Outputs outputs, SolveReport made) {
    add(outputs, made::toHtml, made::toJson);
  }

  /** As above, for a command that does not solve. */
  void add(Outputs outputs, AnalysisReport made) {
    add(outputs, made::toHtml, made::toJson);
  }

  /** As above, for a dense factorization. */
  void add(Outputs outputs, TallReport made) {
    add(outputs, made::toHtml, made::toJson);
  }

  private void add(Outputs outputs, Supplier<String> page, Supplier<String> json) {
    if (report != null) {
      String text = isPage() ? page.get() : json.get() + "\n";
      outputs.add(report, file -> Files.writeString(file, text));
    }
  }

  /**
   * Writes the report of a failed run if one was requested.
   *
   * @return a message if it could not be written
   */
  Optional<String> writeFailed(Throwable e, double readSeconds, double elapsed) {
    return failed
        .write(report, overwrite, e, readSeconds, elapsed)
        .map(why -> report + ": no report, " + why);
  }
}
