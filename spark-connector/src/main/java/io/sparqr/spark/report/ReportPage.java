/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.report;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
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

  /**
   * A page.
   *
   * @param frame the file of its frame
   * @param title plain text
   * @param text plain text
   * @param data as it stands in the page
   */
  static String of(String frame, String title, String text, String data) {
    return PLACE
        .matcher(file(frame))
        .replaceAll(
            found ->
                Matcher.quoteReplacement(
                    switch (found.group(1)) {
                      case "title" -> escaped(title);
                      case "text" -> escaped(text);
                      case "data" -> data;
                      default -> file(found.group(2));
                    }));
  }

  /** Plain text as it stands in a page. */
  static String escaped(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
  }

  /** JSON for a script element, which nothing in it can end. */
  static String inScript(Map<String, Object> data) {
    try {
      return new ObjectMapper().writeValueAsString(data).replace("<", "\\u003c");
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a report that is not JSON", e);
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
