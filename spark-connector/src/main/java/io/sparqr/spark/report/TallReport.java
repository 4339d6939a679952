/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.report;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/**
 * What {@code sparqr qr} says of a factorization.
 *
 * @param rows m
 * @param columns n
 * @param rank pivots of R above the tolerance
 * @param rankTolerance relative to the largest column norm
 * @param singularValues the largest ones, as many as were asked for, descending
 * @param spark whether on Spark
 * @param engineReason why
 * @param seconds of the steps
 * @param run when, where and by what
 */
public record TallReport(
    long rows,
    int columns,
    int rank,
    double rankTolerance,
    double[] singularValues,
    boolean spark,
    String engineReason,
    Seconds seconds,
    RunRecord run) {

  /**
   * Wall-clock seconds.
   *
   * @param q explicit Q; 0 if it was not asked for
   */
  public record Seconds(double read, double factorize, double q, double total) {}

  /** A JSON object. */
  public String toJson() {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("rows", rows);
    map.put("columns", columns);
    map.put("rank", rank);
    map.put("rankTolerance", rankTolerance);
    map.put("singularValues", singularValues);
    map.put("engine", engine());
    map.put("engineReason", engineReason);
    Map<String, Object> times = new LinkedHashMap<>();
    times.put("read", seconds.read);
    times.put("factorize", seconds.factorize);
    times.put("q", seconds.q);
    times.put("total", seconds.total);
    map.put("seconds", times);
    map.put("run", run.toMap());
    return SolveReport.json(map);
  }

  /** A page with the text and the figures, without charts. */
  public String toHtml() {
    String title = "Sparqr: QR of %,d x %,d".formatted(rows, columns);
    return ReportPage.of("analysis.html", title, toText(), ReportPage.escaped(toJson()));
  }

  /** A few lines. */
  public String toText() {
    var text = new StringBuilder();
    line(text, "matrix", "%,d x %,d, dense", rows, columns);
    line(text, "rank", "%,d (pivots above %.3g of the largest column)", rank, rankTolerance);
    if (singularValues.length > 0) {
      line(text, "singular values", "%s", String.join(" ", texts()));
    }
    line(text, "engine", "%s (%s)", engine(), engineReason);
    String steps = "read %.3f, factorize %.3f, Q %.3f, total %.3f";
    line(text, "seconds", steps, seconds.read, seconds.factorize, seconds.q, seconds.total);
    line(text, "run", "%s", run.toText());
    return text.toString();
  }

  private String[] texts() {
    return Arrays.stream(singularValues).mapToObj(Double::toString).toArray(String[]::new);
  }

  private String engine() {
    return spark ? "spark" : "local";
  }

  private static void line(StringBuilder text, String name, String format, Object... values) {
    text.append(String.format(Locale.ROOT, "%-16s", name))
        .append(String.format(Locale.ROOT, format, values))
        .append('\n');
  }

  /** {@link #toText()}. */
  @Override
  public String toString() {
    return toText();
  }
}
