/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

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
 * @param phase that failed, as {@link ProgressListener.Progress#phase} names it
 * @param known figures of the report that were known, by their keys; without the seconds
 * @param seconds of every phase until then, the failed one included; the others 0
 * @param error as the caller of the solve gets it
 */
public record FailureReport(
    String phase, Map<String, Object> known, SolveReport.Seconds seconds, Throwable error) {

  private static final int DEPTH = 16;

  /** Copies the figures; nothing is null. */
  public FailureReport {
    Objects.requireNonNull(phase, "phase");
    Objects.requireNonNull(seconds, "seconds");
    Objects.requireNonNull(error, "error");
    known = java.util.Collections.unmodifiableMap(new LinkedHashMap<>(known));
  }

  /** The same with the time that the caller took to read the input, added to the total. */
  public FailureReport withReadSeconds(double read) {
    return new FailureReport(phase, known, seconds.withRead(read), error);
  }

  /** The same with why the engine was chosen, where a solve got so far that it has one. */
  public FailureReport withEngineReason(String reason) {
    var figures = new LinkedHashMap<>(known);
    figures.replace("engineReason", reason);
    return new FailureReport(phase, figures, seconds, error);
  }

  /**
   * Keys and values of the JSON form: those of {@link SolveReport#toMap} that are known, {@code
   * seconds}, and {@code error} with {@code phase}, {@code class}, {@code message} (one line) and
   * {@code causes} (a line each, the outermost first).
   */
  public Map<String, Object> toMap() {
    var map = new LinkedHashMap<>(known);
    map.put("seconds", seconds.toMap());
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

  /** A page with the error and the figures that were known; no pictures. */
  public String toHtml() {
    return ReportPage.of(this);
  }

  /** The JSON form, indented. */
  public String toJson() {
    return SolveReport.json(toMap());
  }
}
