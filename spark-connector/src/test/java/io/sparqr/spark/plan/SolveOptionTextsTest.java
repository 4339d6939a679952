/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.plan;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.spark.plan.SolveOption.Way;
import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
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

  private static final Path ROOT = Path.of(System.getProperty("basedir", "."), "..");

  /** Columns of a line of Python. */
  private static final int WIDTH = 120;

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
    between("docs/guide/configuration.md", head, "\\z", lines(SolveOption.all(), this::row));
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

  private static String escaped(String text) {
    return text.replace("|", "\\|");
  }

  @Test
  void theTableOfPython() throws IOException {
    between(
        "python/sparqr/_declared.py", "OPTIONS = {\n", "}\n", lines(of(Way.PYTHON), o -> entry(o)));
  }

  private static String entry(SolveOption<?> option) {
    List<String> words = option.type().words();
    return "    \"%s\": Option(\n        \"%s\",\n        %s,\n        %s,\n        %s,\n    ),"
        .formatted(
            option.keyword().orElseThrow(),
            option.name(),
            words.isEmpty() ? python(option) : "(\"" + String.join("\", \"", words) + "\")",
            value(option).orElse("None"),
            quoted(meaning(option)));
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

  @Test
  void theParamsOfPythonsEstimator() throws IOException {
    String keywords =
        lines(
            of(Way.ML),
            o ->
                "        %s: %s = %s,".formatted(o.name(), annotation(o), value(o).orElse("None")));
    String before = "        regParam: float = 0.0,\n";
    String after = "        computeStandardErrors: bool";
    between("python/sparqr/ml.py", before, after, keywords);
    between(
        "python/sparqr/ml.py",
        "        At least 0; default 0.\n",
        "    computeStandardErrors : bool",
        lines(of(Way.ML), o -> described(o, o.name())));
  }

  @Test
  void theEstimatorOfPythonHasParamsGettersAndSetters() throws IOException {
    String source = Files.readString(ROOT.resolve("python/sparqr/_regression_params.py"));
    for (SolveOption<?> option : of(Way.ML)) {
      String name = option.name();
      String capital = name.substring(0, 1).toUpperCase(Locale.ROOT) + name.substring(1);
      assertThat(source)
          .contains("    " + name + " = _of_solver(\"" + name + "\", ")
          .contains("    def get" + capital + "(self)")
          .contains("    def set" + capital + "(self: _S, value: ");
    }
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

  private static String lines(List<SolveOption<?>> options, Function<SolveOption<?>, String> line) {
    return options.stream().map(o -> line.apply(o) + "\n").collect(Collectors.joining());
  }

  /** The type of a value in Python. */
  private static String python(SolveOption<?> option) {
    Class<?> type = option.type().javaClass();
    return type == Boolean.class
        ? "bool"
        : type == Integer.class ? "int" : type == Double.class ? "float" : "str";
  }

  private static String annotation(SolveOption<?> option) {
    return option.byDefault().isPresent() ? python(option) : python(option) + " | None";
  }

  /** The default in Python. */
  private static Optional<String> value(SolveOption<?> option) {
    return option
        .defaultValue()
        .map(
            v ->
                option.type().isFlag()
                    ? v.substring(0, 1).toUpperCase(Locale.ROOT) + v.substring(1)
                    : option.type().words().isEmpty() ? v : quoted(v));
  }

  private static String quoted(String text) {
    return "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
  }

  private static String meaning(SolveOption<?> option) {
    return option.summary().replace("`", "");
  }

  /** A parameter in a docstring. */
  private static String described(SolveOption<?> option, String name) {
    List<String> words = option.type().words();
    String type = words.isEmpty() ? python(option) : "{\"" + String.join("\", \"", words) + "\"}";
    String optional = option.byDefault().isPresent() ? "" : ", optional";
    String summary = option.summary().replace("`", "``");
    String otherwise =
        option.byDefault().isPresent()
            ? ""
            : " Default: " + option.defaultText().replace("`", "``") + ".";
    String text =
        summary.substring(0, 1).toUpperCase(Locale.ROOT) + summary.substring(1) + "." + otherwise;
    return "    " + name + " : " + type + optional + "\n" + wrapped(text, "        ");
  }

  private static String wrapped(String text, String indent) {
    var lines = new ArrayList<String>();
    String line = indent;
    for (String word : text.split(" ")) {
      if (line.length() + 1 + word.length() > WIDTH) {
        lines.add(line.stripTrailing());
        line = indent;
      }
      line += word + " ";
    }
    lines.add(line.stripTrailing());
    return String.join("\n", lines);
  }

  /** Requires a text wherever these two enclose one, or writes it there. */
  private static void between(String file, String before, String after, String text)
      throws IOException {
    Path path = ROOT.resolve(file);
    String found = Files.readString(path);
    Pattern place =
        Pattern.compile(
            "(?s)(?<="
                + Pattern.quote(before)
                + ").*?(?="
                + (after.startsWith("\\") ? after : Pattern.quote(after))
                + ")");
    assertThat(place.matcher(found).find()).as("%s has a place for it", file).isTrue();
    String wanted = place.matcher(found).replaceAll(Matcher.quoteReplacement(text));
    if (System.getProperty("golden.update") != null) {
      Files.writeString(path, wanted);
    }
    assertThat(Files.readString(path))
        .as("%s is out of date; -Dtest=SolveOptionTextsTest -Dgolden.update writes it", file)
        .isEqualTo(wanted);
  }
}
