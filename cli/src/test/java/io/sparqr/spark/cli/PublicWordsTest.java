/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.configuration.Keys;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/**
 * Words that a reader has to read twice stay out of what users read: the documents, the Javadoc of
 * the public types, messages, the command line's help, Python's docstrings.
 */
@Tag("once")
class PublicWordsTest {

  private static final Path ROOT = Markdown.ROOT;

  /** "so many that" is English, "so many bytes" for a number of bytes is not. */
  private static final Pattern ODD =
      Pattern.compile(
          "\\b(so many\\b(?! that)|nobody|whoever|somebody|lets go\\b|told apart|foretold|foretells?"
              + "|a user's has)\\b",
          Pattern.CASE_INSENSITIVE);

  /** One word for columns that depend on others; names of methods and keys have theirs. */
  private static final Pattern DEAD =
      Pattern.compile("\\b(dead|dropped) columns?\\b|\\bis dead\\b", Pattern.CASE_INSENSITIVE);

  private static final Pattern JAVADOC = Pattern.compile("/\\*\\*(.*?)\\*/", Pattern.DOTALL);
  private static final Pattern TEXT = Pattern.compile("\"((?:[^\"\\\\\n]|\\\\.)*)\"");
  private static final Pattern DOCSTRING = Pattern.compile("\"\"\"(.*?)\"\"\"", Pattern.DOTALL);
  private static final Pattern INCLUDE = Pattern.compile("<include>([a-z]\\S*)</include>");

  private static final List<String> MODULES =
      List.of("partitioning", "gpu-core", "spark-connector", "regression", "cli");

  private static void add(Set<String> wrong, String where, String text, Pattern... patterns) {
    for (Pattern p : patterns) {
      Matcher m = p.matcher(text);
      while (m.find()) {
        int from = Math.max(0, m.start() - 30);
        wrong.add(
            where
                + ": ..."
                + text.substring(from, Math.min(text.length(), m.end() + 30)).replace('\n', ' '));
      }
    }
  }

  /** Text without code, which has names of its own. */
  private static String prose(String text) {
    return text.replaceAll("`[^`\n]*`", "").replaceAll("\\{@\\w+ [^}]*\\}", "");
  }

  private static Map<Path, String> sources(String folder, String ending) throws IOException {
    try (Stream<Path> files = Files.walk(ROOT.resolve(folder))) {
      var found = new LinkedHashMap<Path, String>();
      for (Path f : files.filter(x -> x.toString().endsWith(ending)).sorted().toList()) {
        found.put(ROOT.relativize(f), Files.readString(f));
      }
      return found;
    }
  }

  @Test
  void theDocuments() throws IOException {
    var wrong = new TreeSet<String>();
    int count = 0;
    for (Markdown page : Markdown.all()) {
      String file = page.file().toString();
      if (file.startsWith("benchmarks/history") || file.endsWith("CHANGELOG.md")) {
        continue; // these stay as they were written
      }
      count++;
      add(wrong, file, prose(page.text()), ODD);
      if (file.startsWith("docs/guide") || file.equals("README.md") || file.startsWith("python")) {
        add(wrong, file, prose(page.text()), DEAD);
      }
    }
    assertThat(wrong).isEmpty();
    assertThat(count).isGreaterThan(50);
  }

  @Test
  void javadocOfThePublicTypes() throws IOException {
    String pom = Files.readString(ROOT.resolve("pom.xml"));
    String list = pom.substring(pom.indexOf("<parameter>"), pom.indexOf("</parameter>"));
    Set<String> names =
        INCLUDE.matcher(list).results().map(m -> m.group(1)).collect(Collectors.toSet());
    var wrong = new TreeSet<String>();
    int count = 0;
    for (String module : MODULES) {
      for (var e : sources(module + "/src/main/java", ".java").entrySet()) {
        String type =
            e.getKey().toString().replaceAll(".*src/main/java/|\\.java$", "").replace('/', '.');
        if (!names.contains(type) && !names.contains(type.replaceAll("\\.\\w+$", ""))) {
          continue;
        }
        Matcher m = JAVADOC.matcher(e.getValue());
        while (m.find()) {
          count++;
          String text = prose(m.group(1).replaceAll("\n\\s*\\*", " ")).strip();
          add(wrong, type, text, ODD, DEAD);
          if (text.startsWith("The same")) {
            wrong.add(type + ": " + text);
          }
        }
      }
    }
    assertThat(wrong).isEmpty();
    assertThat(count).isGreaterThan(500);
  }

  @Test
  void messagesAndSettings() throws IOException {
    var wrong = new TreeSet<String>();
    int count = 0;
    for (String module : MODULES) {
      for (var e : sources(module + "/src/main/java", ".java").entrySet()) {
        for (String text : texts(TEXT, e.getValue())) {
          if (text.contains(" ")) {
            count++;
            add(wrong, e.getKey().toString(), text, ODD);
            add(wrong, e.getKey().toString(), text, DEAD);
          }
        }
      }
    }
    Keys.all().forEach(k -> add(wrong, k.name(), k.otherwise() + ": " + k.meaning(), ODD, DEAD));
    assertThat(wrong).isEmpty();
    assertThat(count).isGreaterThan(1000);
  }

  @Test
  void helpOfTheCommandLine() {
    var wrong = new TreeSet<String>();
    CommandLine top = new CommandLine(new SparqrCli());
    add(wrong, "sparqr", top.getUsageMessage(), ODD, DEAD);
    top.getSubcommands()
        .forEach((name, command) -> add(wrong, name, command.getUsageMessage(), ODD, DEAD));
    assertThat(wrong).isEmpty();
    assertThat(top.getSubcommands()).hasSizeGreaterThan(3);
  }

  @Test
  void docstringsOfPython() throws IOException {
    var wrong = new TreeSet<String>();
    int count = 0;
    for (var e : sources("python/sparqr", ".py").entrySet()) {
      for (String text : texts(DOCSTRING, e.getValue())) {
        count++;
        String prose = text.replaceAll("``[^`]*``", "").strip();
        add(wrong, e.getKey().toString(), prose, ODD, DEAD);
        if (prose.startsWith("The same")) {
          wrong.add(e.getKey() + ": " + prose);
        }
      }
    }
    assertThat(wrong).isEmpty();
    assertThat(count).isGreaterThan(200);
  }

  private static List<String> texts(Pattern pattern, String source) {
    var found = new ArrayList<String>();
    pattern.matcher(source).results().forEach(m -> found.add(m.group(1)));
    return found;
  }
}
