/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The documents' Java and Scala compile as written; only the names that the text mentions are
 * declared around them.
 */
class ReadmeTest {

  @TempDir Path folder;

  /** The guide to regression has a test of its own, which runs it. */
  private static final List<String> PAGES =
      List.of("README.md", "docs/guide/calls.md", "docs/guide/spark-ml.md", "docs/guide/start.md");

  private static List<String> snippets(String language) throws IOException {
    List<String> found = new ArrayList<>();
    for (String page : PAGES) {
      String text = Files.readString(Path.of(System.getProperty("basedir", "."), "..", page));
      Matcher m = Pattern.compile("```" + language + "\n(.*?)```", Pattern.DOTALL).matcher(text);
      while (m.find()) {
        found.add(m.group(1));
      }
    }
    return found;
  }

  private static String lines(String snippet, boolean imports) {
    return snippet
        .lines()
        .filter(l -> l.startsWith("import ") == imports)
        .collect(Collectors.joining("\n", "", "\n"));
  }

  @Test
  void javaCompiles() throws IOException {
    List<String> snippets = snippets("java");
    assertThat(snippets).hasSizeGreaterThanOrEqualTo(5);
    for (int k = 0; k < snippets.size(); k++) {
      String source =
          lines(snippets.get(k), true)
              + "class Readme {\n"
              + "void run(org.apache.spark.api.java.JavaRDD<SparseRow> rows,\n"
              + "org.apache.spark.api.java.JavaRDD<double[]> otherLabels,\n"
              + "org.apache.spark.sql.Dataset<org.apache.spark.sql.Row> df) throws Exception {\n"
              + lines(snippets.get(k), false)
              + "}}\n";
      source = "import io.sparqr.spark.model.SparseRow;\n" + source;
      assertThat(JavaSource.errors(folder, "Readme", source)).as(source).isEmpty();
    }
  }

  @Test
  void scalaCompiles() throws IOException {
    List<String> snippets = snippets("scala");
    assertThat(snippets).isNotEmpty();
    for (String snippet : snippets) {
      String source =
          "import io.sparqr.spark.model.SparseRow\n"
              + lines(snippet, true)
              + "class Readme(points:\n"
              + "  org.apache.spark.rdd.RDD[org.apache.spark.mllib.regression.LabeledPoint],\n"
              + "  rows: org.apache.spark.rdd.RDD[SparseRow]) {\n"
              + lines(snippet, false)
              + "}\n";
      assertThat(ScalaSource.errors(folder, "Readme", source)).as(source).isEmpty();
      assertThat(folder.resolve("Readme.class")).exists();
    }
  }
}
