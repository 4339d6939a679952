/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.report;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sparqr.error.ErrorText;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A report as one page of HTML: the frame of {@code page/report.html}, the chart library (Vega,
 * Vega-Lite and Vega-Embed, BSD-3-Clause, in {@code page/} with their licences), our script and the
 * figures, all inlined.
 */
final class ReportPage {

  /**
   * Placeholders of the frame: {@code @text:NAME@} for a file, {@code @data@} for the figures,
   * {@code @title@}, and {@code @text@} for the readable text.
   */
  private static final Pattern PLACE = Pattern.compile("@(text:([\\w.-]+)|data|title|text)@");

  private ReportPage() {}

  static String of(SolveReport report) {
    Matcher m = PLACE.matcher(file("report.html"));
    return m.replaceAll(found -> Matcher.quoteReplacement(text(found.group(1), report)));
  }

  /** The page of a failure: text only. */
  static String of(FailureReport failure) {
    String title =
        "Failed in the phase %s: %s".formatted(failure.phase(), ErrorText.message(failure.error()));
    return words("failure.html", title, "", failure.toJson());
  }

  /** The page of an analysis: text only. */
  static String of(AnalysisReport analysis) {
    String title =
        "Sparqr: analysis of %,d x %,d"
            .formatted(analysis.summary().rows(), analysis.summary().columns());
    return words("analysis.html", title, analysis.toText(), analysis.toJson());
  }

  private static String words(String frame, String title, String text, String data) {
    return PLACE
        .matcher(file(frame))
        .replaceAll(
            found ->
                Matcher.quoteReplacement(
                    switch (found.group(1)) {
                      case "title" -> escaped(title);
                      case "text" -> escaped(text);
                      case "data" -> escaped(data);
                      default -> file(found.group(2));
                    }));
  }

  private static String escaped(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
  }

  private static String text(String what, SolveReport report) {
    return switch (what) {
      case "data" -> data(report);
      case "title" ->
          "Sparqr: %,d x %,d".formatted(report.matrix().rows(), report.matrix().columns());
      default -> file(what.substring("text:".length()));
    };
  }

  /** The figures as JSON, escaped so that nothing in them can end the script element. */
  private static String data(SolveReport report) {
    var all = new LinkedHashMap<String, Object>();
    all.put("report", report.toMap());
    all.put("profile", report.profile().any() ? report.profile() : null);
    all.put("text", List.of(report.toText().split("\n")));
    try {
      return new ObjectMapper().writeValueAsString(all).replace("<", "\\u003c");
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a report that is no JSON", e);
    }
  }

  private static String file(String name) {
    try (InputStream in = ReportPage.class.getResourceAsStream("page/" + name)) {
      if (in == null) {
        throw new IllegalStateException("the jar has no page/" + name);
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
