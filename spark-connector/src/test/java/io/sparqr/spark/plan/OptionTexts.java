/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.plan;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
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

/** Text made from the declarations of options, and its places in files. */
public final class OptionTexts {

  /** The repository. */
  public static final Path ROOT = Path.of(System.getProperty("basedir", "."), "..");

  /** Columns of a line of Python. */
  private static final int WIDTH = 120;

  private OptionTexts() {}

  /** A line for each option. */
  public static <O extends DeclaredOption<?>> String lines(
      List<? extends O> options, Function<O, String> line) {
    return options.stream().map(o -> line.apply(o) + "\n").collect(Collectors.joining());
  }

  /** A cell of a table in Markdown. */
  public static String escaped(String text) {
    return text.replace("|", "\\|");
  }

  /** An entry of a table in Python. */
  public static String entry(String key, DeclaredOption<?> option) {
    List<String> words = option.type().words();
    return "    \"%s\": Option(\n        \"%s\",\n        %s,\n        %s,\n        %s,\n    ),"
        .formatted(
            key,
            option.name(),
            words.isEmpty() ? python(option) : "(\"" + String.join("\", \"", words) + "\")",
            value(option).orElse("None"),
            quoted(option.summary().replace("`", "")));
  }

  /** The class of a value in Python. */
  private static String python(DeclaredOption<?> option) {
    Class<?> type = option.type().javaClass();
    return type == Boolean.class
        ? "bool"
        : type == Integer.class
            ? "int"
            : type == Double.class ? "float" : type.isArray() ? "list" : "str";
  }

  /** The type of a value in Python. */
  public static String type(DeclaredOption<?> option) {
    return python(option).replace("list", "list[str]");
  }

  /** The type of a keyword in Python. */
  public static String annotation(DeclaredOption<?> option) {
    return option.byDefault().isPresent() ? type(option) : type(option) + " | None";
  }

  /** The default in Python. */
  public static Optional<String> value(DeclaredOption<?> option) {
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

  /** A parameter in a docstring. */
  public static String described(DeclaredOption<?> option, String name) {
    List<String> words = option.type().words();
    String type =
        words.isEmpty()
            ? python(option).replace("list", "list of str")
            : "{\"" + String.join("\", \"", words) + "\"}";
    String optional = option.byDefault().isPresent() ? "" : ", optional";
    return "    "
        + name
        + " : "
        + type
        + optional
        + "\n"
        + wrapped(sentences(option, "Default: "), "        ");
  }

  /** The summary as a sentence, and where the default comes from unless that is a constant. */
  public static String sentences(DeclaredOption<?> option, String beforeDefault) {
    String summary = option.summary().replace("`", "``");
    String otherwise =
        option.byDefault().isPresent()
            ? ""
            : " " + beforeDefault + option.defaultText().replace("`", "``") + ".";
    return summary.substring(0, 1).toUpperCase(Locale.ROOT)
        + summary.substring(1)
        + "."
        + otherwise;
  }

  /** Text in lines of Python. */
  public static String wrapped(String text, String indent) {
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
  public static void between(String file, String before, String after, String text)
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
        .as("%s is out of date; -Dtest=*OptionTextsTest -Dgolden.update writes it", file)
        .isEqualTo(wanted);
  }
}
