/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.ml;

import static io.sparqr.spark.plan.OptionTexts.ROOT;
import static io.sparqr.spark.plan.OptionTexts.annotation;
import static io.sparqr.spark.plan.OptionTexts.between;
import static io.sparqr.spark.plan.OptionTexts.described;
import static io.sparqr.spark.plan.OptionTexts.entry;
import static io.sparqr.spark.plan.OptionTexts.escaped;
import static io.sparqr.spark.plan.OptionTexts.lines;
import static io.sparqr.spark.plan.OptionTexts.sentences;
import static io.sparqr.spark.plan.OptionTexts.type;
import static io.sparqr.spark.plan.OptionTexts.value;
import static io.sparqr.spark.plan.OptionTexts.wrapped;
import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.spark.plan.DeclaredOption;
import io.sparqr.spark.plan.DeclaredOption.Way;
import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * What cannot read the declarations of {@link RegressionOption} at run time is text made from them:
 * the table of the documentation, and Python's table, params and docstrings. {@code
 * -Dgolden.update} writes it.
 */
class RegressionOptionTextsTest {

  private static final String TABLE = "python/sparqr/_declared.py";
  private static final String ESTIMATOR = "python/sparqr/ml.py";
  private static final String PARAMS = "python/sparqr/_regression_params.py";

  @Test
  void everyOptionIsListed() throws IllegalAccessException {
    List<Object> declared = new ArrayList<>();
    for (Field field : RegressionOption.class.getFields()) {
      declared.add(field.get(null));
    }
    assertThat(declared).isNotEmpty().containsExactlyInAnyOrderElementsOf(RegressionOption.all());
  }

  @Test
  void theTableOfTheDocumentation() throws IOException {
    String head =
        "| Spark ML | `sparqr regress` | `sparqr.feols` | default | meaning |\n|---|---|---|---|---|\n";
    between("docs/guide/regression.md", head, "\n## ", lines(RegressionOption.all(), this::row));
  }

  private String row(RegressionOption<?> option) {
    List<String> words = option.type().words();
    return "| `%s` | %s | %s | %s | %s |"
        .formatted(
            option.name(),
            option.word().map(w -> "`" + w + "`").orElse(""),
            option.keyword().map(k -> "`" + k + "`").orElse(""),
            escaped(words.contains(option.defaultText()) ? code(option) : option.defaultText()),
            escaped(
                option.summary()
                    + (words.isEmpty() ? "" : ": `" + String.join("`, `", words) + "`")
                    + option.detail()));
  }

  private static String code(RegressionOption<?> option) {
    return "`" + option.defaultText() + "`";
  }

  @Test
  void theTableOfPython() throws IOException {
    between(
        TABLE, "REGRESSION = {\n", "}\n", lines(RegressionOption.all(), o -> entry(o.name(), o)));
  }

  @Test
  void theKeywordsOfFeols() throws IOException {
    between(
        TABLE,
        "FEOLS = {\n",
        "}\n",
        lines(
            RegressionOption.all().stream().filter(o -> o.ways().contains(Way.PYTHON)).toList(),
            o -> "    \"%s\": \"%s\",".formatted(o.keyword().orElseThrow(), o.name())));
    between(
        TABLE,
        "FORMER = {\n",
        "}\n",
        lines(
            RegressionOption.all().stream().filter(o -> !o.formerKeywords().isEmpty()).toList(),
            o ->
                "    \"%s\": (\"%s\",),"
                    .formatted(
                        o.keyword().orElseThrow(), String.join("\", \"", o.formerKeywords()))));
  }

  @Test
  void theKeywordsOfPythonsEstimator() throws IOException {
    between(
        ESTIMATOR,
        "        predictionCol: str = \"prediction\",\n",
        "\\x20+(?:progress: bool|\\) -> )",
        lines(
            RegressionParams.declared(),
            o ->
                "        %s: %s = %s,"
                    .formatted(o.name(), annotation(o), value(o).orElse("None"))));
    between(
        ESTIMATOR,
        "        Names of columns; defaults \"features\", \"label\", \"prediction\".\n",
        "    progress : bool",
        lines(RegressionParams.declared(), o -> described(o, o.name())));
  }

  @Test
  void theParamsOfPython() throws IOException {
    between(
        PARAMS,
        "    # one for each param of Java\n",
        "\n    def getWeightCol",
        lines(
            RegressionParams.declared(),
            o -> "    %s = _declared(\"%s\", %s)".formatted(o.name(), o.name(), converter(o))));
    between(
        PARAMS,
        "isDefined(\"weightCol\") else None\n",
        "\n\nclass RegressionSetters",
        lines(
            RegressionParams.declared().stream()
                .filter(o -> o != RegressionOption.WEIGHT_COL)
                .toList(),
            RegressionOptionTextsTest::getter));
    between(
        PARAMS,
        "_set(predictionCol=value)\n",
        "\\z",
        lines(RegressionParams.declared(), RegressionOptionTextsTest::setter));
  }

  private static String converter(DeclaredOption<?> option) {
    String type = type(option);
    return "TypeConverters."
        + switch (type) {
          case "bool" -> "toBoolean";
          case "float" -> "toFloat";
          case "list[str]" -> "toListString";
          default -> "toString";
        };
  }

  private static String capital(DeclaredOption<?> option) {
    return option.name().substring(0, 1).toUpperCase(Locale.ROOT) + option.name().substring(1);
  }

  private static String docstring(DeclaredOption<?> option, String beforeDefault) {
    String text =
        sentences(option, beforeDefault).replace("None if not set: none.", "None if not set.");
    if (option.type().isFlag()) {
      text = "Whether to " + text.substring(0, 1).toLowerCase(Locale.ROOT) + text.substring(1);
    }
    return wrapped("\"\"\"" + text + "\"\"\"", "        ");
  }

  private static String getter(DeclaredOption<?> option) {
    String found = "self.getOrDefault(self." + option.name() + ")";
    return "\n    def get%s(self) -> %s:\n%s\n        return %s"
        .formatted(
            capital(option),
            annotation(option),
            docstring(option, "None if not set: "),
            option.byDefault().isPresent()
                ? found
                : found + " if self.isDefined(\"" + option.name() + "\") else None");
  }

  private static String setter(DeclaredOption<?> option) {
    return "\n    def set%s(self: _S, value: %s) -> _S:\n%s\n        return self._set(%s=value)"
        .formatted(capital(option), type(option), docstring(option, "Default: "), option.name());
  }

  /** The methods of Java name words and defaults in Javadoc. */
  @Test
  void theWordsAndDefaultsInJavadoc() throws IOException {
    String folder = "regression/src/main/java/io/sparqr/spark/ml/";
    String estimator = Files.readString(ROOT.resolve(folder + "SparseQRRegression.java"));
    String params = Files.readString(ROOT.resolve(folder + "SparseQRRegressionParams.java"));
    for (DeclaredOption<?> option : RegressionParams.declared()) {
      assertThat(params).contains(" " + option.name() + "()").contains(" get" + capital(option));
      Matcher setter =
          Pattern.compile(
                  "(?s)/\\*\\*((?:(?!\\*/).)*)\\*/\\s+public SparseQRRegression set"
                      + capital(option)
                      + "\\(")
              .matcher(estimator);
      assertThat(setter.find()).as(option.name()).isTrue();
      String javadoc = setter.group(1).replaceAll("\\s+\\*\\s+", " ");
      assertThat(javadoc).as(option.name()).contains("efault");
      for (String word : option.type().words()) {
        // HC0 to HC3
        assertThat(javadoc).as(option.name()).contains(word.replaceAll("HC[12]", "HC0"));
      }
      if (option.byDefault().isPresent()) {
        String constant = option.defaultText().toLowerCase(Locale.ROOT);
        assertThat(javadoc.toLowerCase(Locale.ROOT))
            .as(option.name())
            .containsAnyOf("default " + constant, constant + " (default");
      }
    }
  }
}
