/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import io.sparqr.spark.FailureReport;
import io.sparqr.spark.ProgressListener;
import io.sparqr.spark.SolveReport;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** The report that a failed run leaves: the failed solve's, or what is known of reading. */
final class FailedRun {

  /** Of the solve that failed; null where none has, as while the input is read. */
  private FailureReport failure;

  /** What the command does outside of a solve. */
  private String phase = "read";

  /** Why the engine of the solve was chosen. */
  private String engineReason = "";

  /** A solve begins. */
  void solving(String why) {
    engineReason = why;
  }

  /** What {@link #solving} was told of last. */
  String engineReason() {
    return engineReason;
  }

  /** A solve is done, its results are being written. */
  void writing() {
    phase = "write";
  }

  /** What was read is being analyzed, without a solve. */
  void analyzing() {
    phase = "analyze";
  }

  /** A listener that shows progress as another does, and keeps the report of a failure. */
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
   * Writes the report, where one was asked for; that must not hide the failure.
   *
   * @param target null: none was
   * @param overwrite whether it may be replaced
   * @param read seconds of reading, where it was done
   * @param elapsed seconds in all
   * @return why it could not be written; empty if it was
   */
  Optional<String> write(
      Path target, boolean overwrite, Throwable thrown, double read, double elapsed) {
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

  /** Whether a report is for people, by its name; null: there is none. */
  static boolean isPage(Path target) {
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
