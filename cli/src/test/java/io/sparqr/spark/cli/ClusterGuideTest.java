/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.configuration.Key;
import io.sparqr.configuration.Keys;
import io.sparqr.spark.report.FailureReport;
import io.sparqr.spark.report.SolveReport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.spark.internal.config.ConfigEntry;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/** Everything that docs/guide/cluster.md names exists, and its table has every key of a report. */
class ClusterGuideTest {

  private static final Path ROOT = Path.of(System.getProperty("basedir", "."), "..");

  /**
   * Keys for which Spark has no entry, or which belong to a cluster manager that is not a
   * dependency of ours.
   */
  private static final Set<String> OTHERS =
      Set.of("spark.local.dir", "spark.kubernetes.container.image");

  /** Words of spark-submit. */
  private static final Set<String> SUBMIT =
      Set.of("--master", "--deploy-mode", "--class", "--conf");

  private static String guide() throws IOException {
    return Files.readString(ROOT.resolve("docs/guide/cluster.md"));
  }

  private static Set<String> found(String pattern, String text) {
    return Pattern.compile(pattern)
        .matcher(text)
        .results()
        .map(m -> m.group(1))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  @Test
  void everySettingExists() throws IOException {
    Set<String> ours = Keys.all().stream().map(Key::name).collect(Collectors.toSet());
    // the entries are created with their object
    assertThat(org.apache.spark.internal.config.package$.MODULE$).isNotNull();
    Set<String> settings =
        found(
            "(?<![\\w.])((?:spark\\.[a-z]|sparqr\\.(?:blas|cuda|native|log))[\\w.]*\\w)\\b",
            guide());
    assertThat(settings).hasSizeGreaterThan(20);
    for (String key : settings) {
      boolean known =
          ours.contains(key) || ConfigEntry.findEntry(key) != null || OTHERS.contains(key);
      assertThat(known).as(key).isTrue();
    }
  }

  @Test
  void everyWordOfTheCommandLineExists() throws IOException {
    Set<String> words =
        new CommandLine(new SolveCommand())
            .getCommandSpec().options().stream()
                .map(OptionSpec::longestName)
                .collect(Collectors.toSet());
    Set<String> named = found("(?<![\\w-])(--[a-z][a-z-]+)", guide());
    named.removeAll(SUBMIT);
    assertThat(named).isNotEmpty();
    assertThat(words).containsAll(named);
  }

  @Test
  void theTableHasEveryKeyOfAReportAndOfAFailure() throws IOException {
    String text = guide();
    String table =
        text.substring(text.indexOf("| key | meaning |"), text.indexOf("**A failed run"));
    var named = new ArrayList<String>();
    var seconds = new ArrayList<String>();
    for (String row : table.lines().skip(2).filter(l -> l.startsWith("|")).toList()) {
      String[] cell = row.split("\\|");
      named.addAll(found("`(\\w+)`", cell[1]));
      if (cell[1].strip().equals("`seconds`")) {
        seconds.addAll(found("`(\\w+)`", cell[2]));
      }
    }
    assertThat(named).containsExactlyInAnyOrderElementsOf(report().keySet());
    assertThat(seconds)
        .containsExactlyInAnyOrderElementsOf(
            Arrays.stream(SolveReport.Seconds.class.getRecordComponents())
                .map(c -> c.getName())
                .toList());
    var failed =
        new FailureReport(
            "plan", Map.of(), new SolveReport.Seconds(0, 0, 0, 0, 0, 0, 0, 0, 0), new Error());
    String about = text.substring(text.indexOf("**A failed run"));
    Stream.concat(Stream.of("error"), ((Map<?, ?>) failed.toMap().get("error")).keySet().stream())
        .forEach(key -> assertThat(about).contains("`" + key + "`"));
  }

  private static Map<String, Object> report() {
    return new SolveReport(
            new SolveReport.Matrix(1, 1, 1, 1),
            new SolveReport.Analysis("", "", 1, 1, 1, 1, 0),
            new SolveReport.Cluster(1, 0),
            new SolveReport.Factorization(
                1,
                1,
                "",
                "",
                List.of(),
                new SolveReport.Schedule(0, 0, 0, ""),
                new SolveReport.Memory(0, 0, 0),
                SolveReport.FactorBytes.NONE,
                new SolveReport.Gram("", 0, 0, 0, 0)),
            new SolveReport.RankTest(0, "", 1, new int[0], 1, new int[0]),
            new SolveReport.Proof(0, 0),
            new SolveReport.Traffic(0, 0, 0),
            SolveReport.Residual.none(),
            new SolveReport.Seconds(0, 0, 0, 0, 0, 0, 0, 0, 0),
            List.of())
        .toMap();
  }

  @Test
  void everyFileThatItPointsToIsThere() throws IOException {
    for (String link : found("\\]\\(([^)#]+)\\)", guide())) {
      assertThat(ROOT.resolve("docs/guide").resolve(link)).exists();
    }
    assertThat(guide().lines().count()).isLessThan(200);
  }
}
