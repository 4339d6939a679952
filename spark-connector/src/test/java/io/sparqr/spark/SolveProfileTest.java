/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sparqr.backend.BackendChoice;
import io.sparqr.numeric.Tolerances;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.spark.report.FailureReport;
import io.sparqr.spark.report.SolveProfile;
import io.sparqr.spark.report.SolveReport;
import io.sparqr.sparse.CsrMatrix;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The data of a report's pictures add up, and a browser draws them. */
@Tag("once")
class SolveProfileTest {

  private static final long SEED = 20261123L;

  /** A grid, and column singletons beside it: more fronts than the tree has tiles for. */
  private static final CsrMatrix A =
      Problems.withSingletons(Problems.grid(110, SEED), 40, SEED + 1);

  private static final SolveReport REPORT = report();

  @TempDir private Path folder;

  private static SolveReport report() {
    return GpuSparseQR.builder()
        .backend(BackendChoice.CPU)
        .profile(true)
        .executors(3)
        .partitionOptions(new PartitionOptions(2, 4, 2, 0))
        .solve(Problems.rdd(A, 3, Problems.rhs(A.rows(), SEED + 2)))
        .report();
  }

  @Test
  void theGridsHaveEveryEntryOfAAndOfR() {
    SolveProfile p = REPORT.profile();
    assertThat(p.matrix().entries()).isEqualTo(REPORT.matrix().nonzeros()).isPositive();
    assertThat(REPORT.rankTest().rank()).isEqualTo(A.columns());
    assertThat(p.factor().entries()).isEqualTo(REPORT.factorization().nnzR()).isPositive();
    for (SolveProfile.Spy s : List.of(p.matrix(), p.factor())) {
      assertThat(s.gridRows()).isLessThanOrEqualTo(200);
      assertThat(s.cells()).allMatch(c -> c.row() < s.gridRows() && c.column() < s.gridColumns());
    }
    assertThat(p.factor().cells()).as("R is upper triangular").allMatch(c -> c.row() <= c.column());
  }

  @Test
  void theTreeHasEveryFrontAndEveryFlopInFewNodes() {
    SolveProfile p = REPORT.profile();
    assertThat(REPORT.analysis().fronts()).as("some share a node").isGreaterThan(p.fronts().size());
    assertThat(p.fronts()).hasSizeLessThanOrEqualTo(2001);
    assertThat(p.fronts().stream().mapToInt(SolveProfile.Front::count).sum())
        .isEqualTo(REPORT.analysis().fronts());
    double flops = REPORT.analysis().flops();
    assertThat(p.fronts().stream().mapToDouble(SolveProfile.Front::flops).sum())
        .isCloseTo(flops, within(Tolerances.REORDERED * flops));
    assertThat(p.fronts()).allMatch(f -> f.parent() < f.id() && (f.front() < 0) == (f.count() > 1));
    assertThat(p.sizes().stream().mapToInt(SolveProfile.FrontSize::fronts).sum())
        .isEqualTo(REPORT.analysis().fronts());
    assertThat(p.sizes().stream().mapToDouble(SolveProfile.FrontSize::flops).sum())
        .isCloseTo(flops, within(Tolerances.REORDERED * flops));
    Map<Integer, Double> byTask =
        p.fronts().stream()
            .collect(
                Collectors.groupingBy(
                    SolveProfile.Front::task, Collectors.summingDouble(SolveProfile.Front::flops)));
    SolveProfile.Task largest =
        p.tasks().stream()
            .max((s, t) -> Double.compare(s.work().flops(), t.work().flops()))
            .orElseThrow();
    double flopsOfLargest = largest.work().flops();
    assertThat(byTask.get(largest.id())).isCloseTo(flopsOfLargest, within(0.2 * flopsOfLargest));
  }

  @Test
  void everyTaskIsThereOnceAndWithinThePhaseThatRanIt() {
    SolveProfile p = REPORT.profile();
    assertThat(p.tasks()).hasSize(REPORT.analysis().subtreeTasks());
    assertThat(p.tasks().size()).as("several").isGreaterThan(1);
    assertThat(p.tasks()).extracting(SolveProfile.Task::id).doesNotHaveDuplicates();
    assertThat(p.tasks().stream().mapToInt(t -> t.work().fronts()).sum())
        .isEqualTo(REPORT.analysis().fronts());
    double done = REPORT.factorization().flopsDone();
    assertThat(p.tasks().stream().mapToDouble(t -> t.work().flopsDone()).sum())
        .isCloseTo(done, within(Tolerances.REORDERED * done));
    assertThat(p.tasks().stream().mapToLong(t -> t.peak().hostBytes()).max())
        .hasValue(REPORT.factorization().memory().peakHostBytes());
    assertThat(p.tasks().stream().mapToLong(t -> t.peak().foretoldHostBytes()).max())
        .hasValue(REPORT.factorization().memory().foretoldHostBytes());
    assertThat(p.phases())
        .extracting(SolveProfile.Phase::name)
        .containsExactly("pattern", "analyze", "plan", "rows", "factorize", "solve");
    for (int k = 1; k < p.phases().size(); k++) {
      assertThat(p.phases().get(k).begin()).isGreaterThanOrEqualTo(p.phases().get(k - 1).end());
    }
    SolveProfile.Phase factorize = p.phases().get(4);
    // by a clock of milliseconds
    assertThat(p.tasks())
        .allMatch(
            t ->
                t.run().place().equals("driver")
                    && t.begin() >= factorize.begin() - 0.002
                    && t.end() <= factorize.end() + 0.002
                    && t.end() >= t.begin());
    assertThat(p.memory()).isNotEmpty().allMatch(m -> m.heapBytes() > 0 && m.at() >= 0);
    assertThat(p.memory()).isSortedAccordingTo((m, n) -> Double.compare(m.at(), n.at()));
  }

  /** The script of the page reads them so. */
  @Test
  void thePageHasTheFiguresOfATaskWithoutGroups() {
    var keys = new ArrayList<String>();
    data(REPORT.toHtml()).at("/profile/tasks/0").fieldNames().forEachRemaining(keys::add);
    assertThat(keys)
        .containsExactly(
            "id",
            "level",
            "attempt",
            "place",
            "device",
            "threads",
            "begin",
            "end",
            "fronts",
            "flops",
            "flopsDone",
            "foretoldSeconds",
            "hostBytes",
            "foretoldHostBytes",
            "deviceBytes",
            "deviceTimes");
  }

  @Test
  void nothingIsNotedUnlessItIsAskedFor() {
    CsrMatrix a = Problems.random(30, 10, 3, SEED);
    SolveReport plain = GpuSparseQR.solve(Problems.rdd(a, 1, Problems.rhs(30, SEED))).report();
    assertThat(plain.profile()).isSameAs(SolveProfile.NONE);
    assertThat(data(plain.toHtml()).get("profile").isNull()).isTrue();
    assertThat(REPORT.toMap()).doesNotContainKey("profile");
  }

  private static String withoutScripts(String page) {
    return page.replaceAll("(?s)(<script[^>]*>).*?</script>", "$1</script>");
  }

  private static JsonNode data(String page) {
    String open = "<script type=\"application/json\" id=\"data\">";
    int from = page.indexOf(open) + open.length();
    try {
      return new ObjectMapper().readTree(page.substring(from, page.indexOf("</script>", from)));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void thePageNeedsNothingBesideItselfAndNoWordBreaksIt() {
    String hostile = "</script><script>alert('1')</script> & $1 @data@ \\ <!--";
    String page = REPORT.withWarnings(List.of(hostile)).toHtml();
    JsonNode data = data(page);
    JsonNode warnings = data.at("/report/warnings");
    assertThat(warnings.get(warnings.size() - 1).asText()).isEqualTo(hostile);
    assertThat(page.contains("alert('1')</script>")).isFalse();
    String frame = withoutScripts(page);
    assertThat(frame).doesNotContainPattern("(?i)<(script|link|img)[^>]*(src|href)=");
    assertThat(frame).contains("Redistribution and use in source and binary forms");
    assertThat(data.at("/profile/tasks").size()).isEqualTo(REPORT.profile().tasks().size());
    assertThat(data.at("/profile/factor/cells").size())
        .isEqualTo(REPORT.profile().factor().cells().size());
    var failure =
        new FailureReport("plan", Map.of("rows", 7), REPORT.seconds(), new Error(hostile));
    assertThat(failure.toHtml())
        .contains("&lt;script&gt;", "\"rows\" : 7")
        .doesNotContain("<script");
  }

  /** The files of the library are those that its packages have. */
  @Test
  void theLibraryIsAsItWasReleased() throws Exception {
    List<String> lines = new ArrayList<>();
    for (String line : resource("VERSIONS").lines().filter(l -> !l.startsWith("#")).toList()) {
      String[] word = line.split(" ");
      byte[] sum =
          MessageDigest.getInstance("SHA-256")
              .digest(resource(word[0]).getBytes(StandardCharsets.UTF_8));
      assertThat(HexFormat.of().formatHex(sum)).as(line).isEqualTo(word[2]);
      lines.add(word[0]);
    }
    assertThat(lines)
        .containsExactlyInAnyOrder("vega.min.js", "vega-lite.min.js", "vega-embed.min.js");
  }

  private static String resource(String name) throws IOException {
    try (var in = SolveReport.class.getResourceAsStream("page/" + name)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  @ParameterizedTest
  @CsvSource({"light, 1280", "dark, 390"})
  void aBrowserDrawsEveryPictureWithoutAComplaint(String scheme, int width) throws Exception {
    String browser =
        Stream.of("/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome")
            .filter(f -> Files.isExecutable(Path.of(f)))
            .findFirst()
            .orElse(null);
    Assumptions.assumeTrue(browser != null, "no Chromium here: the page is not looked at");
    Path page = folder.resolve("report.html");
    Files.writeString(page, REPORT.withWarnings(List.of("a warning")).toHtml());
    Path out = folder.resolve("dom.html");
    Path said = folder.resolve("said.txt");
    Process p =
        new ProcessBuilder(
                browser,
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--user-data-dir=" + folder.resolve("user"),
                "--blink-settings=preferredColorScheme=" + (scheme.equals("dark") ? 0 : 1),
                "--window-size=" + width + ",2400",
                "--enable-logging=stderr",
                "--virtual-time-budget=20000",
                "--dump-dom",
                page.toUri().toString())
            .redirectOutput(out.toFile())
            .redirectError(said.toFile())
            .start();
    assertThat(p.waitFor(120, TimeUnit.SECONDS)).as("the browser ends").isTrue();
    String dom = withoutScripts(Files.readString(out));
    assertThat(Files.readString(said).lines().filter(l -> l.contains(":CONSOLE")).toList())
        .as("said on the console")
        .isEmpty();
    assertThat(dom).contains("data-drawn=\"7\"").doesNotContain("data-failed", "NaN", "undefined<");
    for (String id : List.of("timeline", "sizes", "memory", "foretold")) {
      assertThat(dom)
          .as(id)
          .containsPattern("id=\"" + id + "\"[^>]*>(?s:.{0,900})<svg[^>]*class=\"marks\"");
    }
    for (String id : List.of("tree", "spy-matrix", "spy-factor")) {
      assertThat(dom).as(id).containsPattern("id=\"" + id + "\"[^>]*>(?s:.{0,900})<canvas");
    }
    assertThat(dom).contains("a warning", "task 0", "measured / predicted");
    assertThat(
            dom.split("aria-roledescription=\"rect mark container\"|aria-roledescription=\"bar\"")
                .length)
        .as("bars")
        .isGreaterThan(10);
  }
}
