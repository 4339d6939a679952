/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.plan;

import static io.sparqr.spark.plan.OptionTexts.ROOT;
import static io.sparqr.spark.plan.OptionTexts.annotation;
import static io.sparqr.spark.plan.OptionTexts.between;
import static io.sparqr.spark.plan.OptionTexts.described;
import static io.sparqr.spark.plan.OptionTexts.entry;
import static io.sparqr.spark.plan.OptionTexts.escaped;
import static io.sparqr.spark.plan.OptionTexts.lines;
import static io.sparqr.spark.plan.OptionTexts.value;
import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.spark.plan.DeclaredOption.Way;
import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * What cannot read the declarations of {@link SolveOption} at run time is text made from them: the
 * table of the documentation, and Python's table, signatures and docstrings. {@code
 * -Dgolden.update} writes it.
 */
class SolveOptionTextsTest {

  @Test
  void everyOptionIsListed() throws IllegalAccessException {
    List<Object> declared = new ArrayList<>();
    for (Field field : SolveOption.class.getFields()) {
      declared.add(field.get(null));
    }
    assertThat(declared).isNotEmpty().containsExactlyInAnyOrderElementsOf(SolveOption.all());
  }

  @Test
  void theTableOfTheDocumentation() throws IOException {
    String head =
        "| builder | `sparqr solve` | Python | default | meaning |\n|---|---|---|---|---|\n";
    between("docs/guide/configuration.md", head, "\n</div>\n", lines(SolveOption.all(), this::row));
  }

  private String row(SolveOption<?> option) {
    String value = option.defaultText();
    return "| %s | %s | %s | %s | %s |"
        .formatted(
            option.calls().stream().map(c -> "`" + c + "`").collect(Collectors.joining(", ")),
            option.word().map(w -> "`" + w + "`").orElse(""),
            option.keyword().map(k -> "`" + k + "`").orElse(""),
            escaped(value.matches("[A-Z_]+") ? "`" + value + "`" : value),
            escaped(option.summary() + option.detail()));
  }

  @Test
  void theTableOfPython() throws IOException {
    between(
        "python/sparqr/_declared.py",
        "OPTIONS = {\n",
        "}\n",
        lines(of(Way.PYTHON), o -> entry(o.keyword().orElseThrow(), o)));
  }

  @Test
  void theKeywordsOfPythonsSolve() throws IOException {
    between(
        "python/sparqr/_solve.py",
        "    weight_col: str | None = None,\n    *,\n",
        "    progress: bool",
        lines(
            of(Way.PYTHON),
            o ->
                "    %s: %s = %s,"
                    .formatted(o.keyword().orElseThrow(), annotation(o), value(o).orElse("None"))));
  }

  @Test
  void theDocstringOfPythonsSolve() throws IOException {
    between(
        "python/sparqr/_solve.py",
        "Default: all weights are 1.\n",
        "    progress : bool",
        lines(of(Way.PYTHON), o -> described(o, o.keyword().orElseThrow())));
  }

  /** The builder's methods name their defaults in Javadoc. */
  @Test
  void theDefaultsInJavadoc() throws IOException {
    String source =
        Files.readString(
            ROOT.resolve("spark-connector/src/main/java/io/sparqr/spark/GpuSparseQR.java"));
    for (SolveOption<?> option : SolveOption.all()) {
      Matcher method =
          Pattern.compile(
                  "(?s)/\\*\\*((?:(?!\\*/).)*)\\*/\\s+public Builder " + option.name() + "\\(")
              .matcher(source);
      assertThat(method.find()).as(option.name()).isTrue();
      if (option.byDefault().isPresent()) {
        assertThat(method.group(1).replaceAll("\\s+\\*\\s+", " "))
            .as(option.name())
            .containsIgnoringCase("default " + option.defaultText());
      }
    }
  }

  private static List<SolveOption<?>> of(Way way) {
    return SolveOption.of(way);
  }
}
