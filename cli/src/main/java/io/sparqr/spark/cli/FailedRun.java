/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import io.sparqr.spark.report.FailureReport;
import io.sparqr.spark.report.ProgressListener;
import io.sparqr.spark.report.SolveReport;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The report of a failed run: that of the failed solve, or the time spent on reading. */
final class FailedRun {

  /** The report of the failed solve; there is none after an error in reading. */
  private @Nullable FailureReport failure;

  /** The current activity of the command outside of a solve. */
  private String phase = "read";

  /** The reason for the engine of the solve. */
  private String engineReason = "";

  /** Notes the start of a solve. */
  void solving(String why) {
    engineReason = why;
  }

  /** The reason last passed to {@link #solving}. */
  String engineReason() {
    return engineReason;
  }

  /** Notes that a solve is done and its results are being written. */
  void writing() {
    phase = "write";
  }

  /** Notes the start of an analysis without a solve. */
  void analyzing() {
    phase = "analyze";
  }

  /** A listener that passes progress on to another, and keeps the report of a failure. */
  ProgressListener hearing(ProgressListener shown) {
    return new ProgressListener() {
      @Override
      public void update(Progress progress) {
        shown.update(progress);
      }

      @Override
      public void failed(FailureReport report) {
        failure = report;
      }
    };
  }

  /**
   * Writes the report if one was requested; an error in this must not hide the failure.
   *
   * @param target where, if requested
   * @param overwrite whether an existing file may be replaced
   * @param read seconds of reading, if it was completed
   * @param elapsed total seconds
   * @return the reason if it could not be written, otherwise empty
   */
  Optional<String> write(
      @Nullable Path target, boolean overwrite, Throwable thrown, double read, double elapsed) {
    try (Outputs outputs = new Outputs(overwrite)) {
      FailureReport report = report(Failures.telling(thrown), read, elapsed);
      String text = isPage(target) ? report.toHtml() : report.toJson() + "\n";
      outputs.add(target, file -> Files.writeString(file, text));
      outputs.commit();
      return Optional.empty();
    } catch (RuntimeException unwritten) {
      thrown.addSuppressed(unwritten);
      return Optional.of(Failures.message(unwritten));
    }
  }

  /** Whether the name of a report asks for an HTML page, if there is one. */
  static boolean isPage(@Nullable Path target) {
    return target != null && target.toString().toLowerCase(Locale.ROOT).endsWith(".html");
  }

  private FailureReport report(Throwable shown, double read, double elapsed) {
    if (failure != null && Failures.telling(failure.error()) == shown) {
      return failure.withReadSeconds(read).withEngineReason(engineReason);
    }
    var seconds = new SolveReport.Seconds(elapsed, 0, 0, 0, 0, 0, 0, 0, elapsed);
    return new FailureReport(phase, Map.of(), seconds, shown);
  }
}
