/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.spark.JavaSource;
import io.sparqr.spark.ScalaSource;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The commands, Java and Scala of docs/guide/regression.md run as written. */
@Tag("once")
class RegressionGuideTest {

  private static final Path ROOT = Path.of(System.getProperty("basedir", "."), "..");

  private static SparkSession spark;

  @TempDir Path folder;

  @BeforeAll
  static void start() {
    spark = CliRun.session();
  }

  private static String guide() throws IOException {
    return Files.readString(ROOT.resolve("docs/guide/regression.md"));
  }

  private static List<String> snippets(String language) throws IOException {
    return Pattern.compile("```" + language + "\n(.*?)```", Pattern.DOTALL)
        .matcher(guide())
        .results()
        .map(m -> m.group(1))
        .toList();
  }

  private static String lines(List<String> snippets, boolean imports) {
    return snippets.stream()
        .flatMap(String::lines)
        .filter(l -> l.startsWith("import ") == imports)
        .collect(Collectors.joining("\n", "", "\n"));
  }

  /** The guide assumes that the working folder is the repository. */
  private static String atRoot(String text) {
    return text.replace("docs/guide/wages.csv", ROOT.resolve("docs/guide/wages.csv").toString());
  }

  private CliRun run(String command) {
    var words = new ArrayList<Object>();
    var word = Pattern.compile("\"([^\"]*)\"|(\\S+)").matcher(atRoot(command));
    while (word.find()) {
      words.add(word.group(1) != null ? word.group(1) : word.group(2));
    }
    assertThat(words.remove(0)).isEqualTo("bin/sparqr");
    words.replaceAll(w -> w.equals("coef.csv") ? folder.resolve("coef.csv") : w);
    return CliRun.of(words.toArray());
  }

  @Test
  void theCommandsRunAndPrintWhatItSays() throws IOException {
    List<String> commands =
        snippets("bash").stream().flatMap(String::lines).filter(l -> !l.isBlank()).toList();
    assertThat(commands).hasSizeGreaterThanOrEqualTo(2);
    var printed = new StringBuilder();
    for (String command : commands) {
      CliRun run = run(command);
      assertThat(run.code()).as("%s%n%s", command, run.err()).isZero();
      run.out().lines().forEach(l -> printed.append(l.stripTrailing()).append('\n'));
    }
    assertThat(snippets("text")).isNotEmpty();
    for (String text : snippets("text")) {
      assertThat(printed.toString()).contains(text);
    }
    assertThat(Files.readAllLines(folder.resolve("coef.csv")))
        .hasSize(8)
        .first()
        .isEqualTo("term,estimate,std_error,t_value,p_value");
  }

  /** One program of all snippets: each uses what those before it made. */
  @Test
  void theJavaRunsFromTopToBottom() throws Exception {
    List<String> java = snippets("java");
    assertThat(java).hasSizeGreaterThanOrEqualTo(10);
    String source =
        lines(java, true)
            + "public class Guide {\n"
            + "public static double[][] run(SparkSession spark,\n"
            + "org.apache.spark.api.java.JavaSparkContext context, String folder)\n"
            + "throws Exception {\n"
            + atRoot(lines(java, false))
            + "return new double[][] {x, updated, mean, next, hc3, byWorker.standardErrors()};\n"
            + "}}\n";
    assertThat(JavaSource.errors(folder, "Guide", source)).as(source).isEmpty();
    var text = new ByteArrayOutputStream();
    PrintStream before = System.out;
    double[][] made;
    try (var loader = new URLClassLoader(new URL[] {folder.toUri().toURL()})) {
      System.setOut(new PrintStream(text, true, StandardCharsets.UTF_8));
      made =
          (double[][])
              loader
                  .loadClass("Guide")
                  .getMethod("run", SparkSession.class, JavaSparkContext.class, String.class)
                  .invoke(
                      null,
                      spark,
                      JavaSparkContext.fromSparkContext(spark.sparkContext()),
                      folder.toUri().toString());
    } finally {
      System.setOut(before);
    }
    assertThat(made[1]).hasSameSizeAs(made[0]);
    for (double[] values : made) {
      for (double value : values) {
        assertThat(value).as("%s", text).isFinite();
      }
    }
    assertThat(made[3][0]).isLessThan(made[2][0]);
    assertThat(made[3][1]).isGreaterThan(made[2][1]);
    assertThat(text.toString(StandardCharsets.UTF_8))
        .contains("firmacme", "290 rows", "Pr(>|t|)", "[workerp");
  }

  @Test
  void theScalaCompiles() throws IOException {
    for (String snippet : snippets("scala")) {
      String source =
          lines(List.of(snippet), true)
              + "class Guide(wages: org.apache.spark.sql.DataFrame) {\n"
              + lines(List.of(snippet), false)
              + "}\n";
      assertThat(ScalaSource.errors(folder, "Guide", source)).as(source).isEmpty();
    }
    assertThat(snippets("scala")).isNotEmpty();
  }

  @Test
  void everyFileThatItPointsToIsThere() throws IOException {
    for (String name : List.of("regression.md", "accuracy.md")) {
      String text = Files.readString(ROOT.resolve("docs/guide").resolve(name));
      List<String> links =
          Pattern.compile("\\]\\(([^)#]+)\\)")
              .matcher(text)
              .results()
              .map(m -> m.group(1))
              .filter(l -> !l.startsWith("http"))
              .toList();
      assertThat(links).isNotEmpty();
      links.forEach(l -> assertThat(ROOT.resolve("docs/guide").resolve(l)).exists());
    }
  }
}
