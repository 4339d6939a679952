/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.report;

import io.sparqr.error.ErrorText;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The report of a failed solve: the figures of an ordinary {@link SolveReport} known so far, by the
 * same keys, and the error. {@link ProgressListener#failed} receives it; {@code sparqr solve
 * --report} writes it.
 *
 * @param phase the phase that failed, as {@link ProgressListener.Progress#phase} names it
 * @param known the known figures of the report, by key; without the seconds
 * @param seconds wall times of the phases up to and including the failed one; 0 for the others
 * @param error the error thrown to the caller of the solve
 */
public record FailureReport(
    String phase, Map<String, Object> known, SolveReport.Seconds seconds, Throwable error) {

  private static final int DEPTH = 16;

  /** Copies the figures; none may be null. */
  public FailureReport {
    Objects.requireNonNull(phase, "phase");
    Objects.requireNonNull(seconds, "seconds");
    Objects.requireNonNull(error, "error");
    known = java.util.Collections.unmodifiableMap(new LinkedHashMap<>(known));
  }

  /** A copy with the time that the caller took to read the input, added to the total. */
  public FailureReport withReadSeconds(double read) {
    return new FailureReport(phase, known, seconds.withRead(read), error);
  }

  /** A copy with the reason for the engine, if the solve had already chosen one. */
  public FailureReport withEngineReason(String reason) {
    var figures = new LinkedHashMap<>(known);
    figures.replace("engineReason", reason);
    return new FailureReport(phase, figures, seconds, error);
  }

  /**
   * Keys and values of the JSON form: the known ones of {@link SolveReport#toMap}, {@code seconds},
   * and {@code error} with {@code phase}, {@code class}, {@code message} (one line) and {@code
   * causes} (one line each, outermost first).
   */
  public Map<String, Object> toMap() {
    var map = new LinkedHashMap<>(known);
    map.put("seconds", seconds.toMap());
    map.putIfAbsent("run", RunRecord.here(seconds.total()).toMap());
    var told = new LinkedHashMap<String, Object>();
    told.put("phase", phase);
    told.put("class", error.getClass().getName());
    told.put("message", ErrorText.message(error));
    told.put("causes", causes());
    map.put("error", told);
    return map;
  }

  private List<String> causes() {
    var lines = new ArrayList<String>();
    Throwable t = error.getCause();
    while (t != null && lines.size() < DEPTH) {
      lines.add(ErrorText.line(t));
      t = t.getCause();
    }
    return lines;
  }

  /** A page with the error and the known figures, without charts. */
  public String toHtml() {
    String title = "Failed in the phase %s: %s".formatted(phase, ErrorText.message(error));
    return ReportPage.of("failure.html", title, "", ReportPage.escaped(toJson()));
  }

  /** The JSON form, indented. */
  public String toJson() {
    return SolveReport.json(toMap());
  }
}
