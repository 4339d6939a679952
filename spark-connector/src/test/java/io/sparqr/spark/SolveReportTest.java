/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.spark.model.Dependency;
import io.sparqr.spark.model.HalfSolve;
import io.sparqr.spark.model.QTransposed;
import io.sparqr.spark.model.RFactor;
import io.sparqr.spark.plan.GivenOptions;
import io.sparqr.spark.plan.Ridge;
import io.sparqr.spark.plan.SolveOption;
import io.sparqr.spark.plan.SolveOptions;
import io.sparqr.spark.report.FailureReport;
import io.sparqr.spark.report.LeastSquaresSolution;
import io.sparqr.spark.report.QrCriteria;
import io.sparqr.spark.report.RunRecord;
import io.sparqr.spark.report.SolveProfile;
import io.sparqr.spark.report.SolveReport;
import io.sparqr.spark.report.TallReport;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.lang.reflect.Modifier;
import java.lang.reflect.RecordComponent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A report is grouped for programs, flat as JSON, and immutable. */
class SolveReportTest {

  private static final Set<Class<?>> KEPT_TOGETHER =
      Set.of(
          SolveReport.Seconds.class,
          SolveReport.FactorBytes.class,
          SolveProfile.class,
          QrCriteria.class,
          RunRecord.class);

  private static SolveReport report(List<String> warnings) {
    return new SolveReport(
        new SolveReport.Matrix(12_000, 300, 40_000, 2),
        new SolveReport.Analysis("AMD", "asked for amd", 7, 2e9, 5, 3, 1.3),
        new SolveReport.Cluster(4, 0),
        new SolveReport.Factorization(
            900,
            3e9,
            "cuda",
            "required",
            List.of("H200"),
            new SolveReport.Schedule(1, 2, 3, "constants: no tuning file"),
            new SolveReport.Memory(4, 5, 6),
            new SolveReport.FactorBytes(7, 8, 9, 10),
            new SolveReport.Gram("AUTO", 3, 1, 2e8, 5e-16)),
        new SolveReport.RankTest(1e-10, "given", 298, new int[] {4, 17}, 2.5e8, new int[] {3, 9}),
        new SolveReport.Proof(2e-16, 1),
        new SolveReport.Traffic(10, 20, 30),
        new SolveReport.Residual(new double[] {1, 2}, SolveReport.Residual.TAIL),
        new SolveReport.Seconds(1, 2, 3, 4, 5, 6, 0.5, 8, 29.5),
        warnings);
  }

  @Test
  void everyFigureOfAGroupIsAKeyOfTheJsonForm() {
    List<String> keys = keys(SolveReport.class);
    keys.remove("profile"); // for pictures, but for what devices did
    keys.add("deviceTimeline");
    keys.add("gflops");
    keys.add("boundShare");
    assertThat(report(List.of()).toMap().keySet()).containsExactlyInAnyOrderElementsOf(keys);
    assertThat(report(List.of()).gflops()).isEqualTo(4);
    assertThat(report(List.of()).boundShare()).isEqualTo(0.2);
  }

  /** The names of a record's figures, those of its groups in their place. */
  private static List<String> keys(Class<?> record) {
    var keys = new ArrayList<String>();
    for (RecordComponent c : record.getRecordComponents()) {
      if (c.getType().isRecord() && !KEPT_TOGETHER.contains(c.getType())) {
        keys.addAll(keys(c.getType()));
      } else {
        keys.add(c.getName());
      }
    }
    return keys;
  }

  @Test
  void everyReportSaysWhenWhereAndByWhat() {
    RunRecord here = RunRecord.here(1.5);
    assertThat(java.time.Instant.parse(here.startedAt()))
        .isBetween(java.time.Instant.now().minusSeconds(60), java.time.Instant.now());
    assertThat(here.versions()).containsOnlyKeys("sparqr", "spark", "java");
    assertThat(here.host()).isNotEmpty();
    assertThat(here.hosts()).containsExactly(here.host());
    RunRecord there =
        here.of("app-1", List.of("b", "a", "b"))
            .withInput("A.mtx")
            .withOptions(Map.of("ridge", "2"));
    assertThat(there.hosts()).containsExactly("a", "b");
    assertThat(there.toText())
        .contains("and a b, app-1")
        .contains("Java " + Runtime.version().feature());
    assertThat(there.toMap())
        .containsEntry("input", "A.mtx")
        .containsEntry("applicationId", "app-1")
        .containsEntry("options", Map.of("ridge", "2"));
    assertThat(report(List.of()).withInput("A.mtx").toText()).contains("input     A.mtx\n");
    assertThat(
            new FailureReport(
                    "reading",
                    Map.of(),
                    new SolveReport.Seconds(2, 0, 0, 0, 0, 0, 0, 0, 2),
                    new IllegalStateException("no"))
                .toMap())
        .extractingByKey("run")
        .satisfies(run -> assertThat(((Map<?, ?>) run).get("host")).isEqualTo(here.host()));
  }

  @Test
  void optionsNotAtTheirDefaultsAreGiven() {
    assertThat(GivenOptions.of(SolveOptions.defaults())).isEmpty();
    SolveOptions o = SolveOptions.defaults();
    var amd = o.analysis().symbolic().withOrdering(OrderingMethod.AMD);
    o =
        o.with(o.analysis().withSymbolic(amd))
            .with(o.problem().withRidge(Ridge.of(0.5)))
            .with(o.solution().withRefinement(2).withCheck(true))
            .with(o.input().withColumns(7));
    assertThat(GivenOptions.of(o))
        .containsExactlyInAnyOrderEntriesOf(
            Map.of("ordering", "amd", "ridge", "0.5", "refinement", "2", "check", "true"));
  }

  /** Each by the name and in the word that the builder and Python take. */
  @Test
  void givenOptionsCanBeGivenAgain() {
    Map<String, String> given =
        Map.ofEntries(
            Map.entry("ordering", "nd"),
            Map.entry("backend", "cuda"),
            Map.entry("method", "householder"),
            Map.entry("ridge", "0.5"),
            Map.entry("equilibrate", "false"),
            Map.entry("rankTolerance", "1.0E-7"),
            Map.entry("rankPolicy", "fail"),
            Map.entry("refinement", "2"),
            Map.entry("minimumNorm", "true"),
            Map.entry("check", "true"),
            Map.entry("minRcond", "0.1"),
            Map.entry("executors", "3"),
            Map.entry("minimumExecutors", "2"),
            Map.entry("executorWait", "5.0"),
            Map.entry("partitions", "4"),
            Map.entry("singletons", "false"),
            Map.entry("profile", "true"),
            Map.entry("keepQ", "true"));
    SolveOptions o = SolveOptions.defaults();
    for (var entry : given.entrySet()) {
      o = SolveOption.named(entry.getKey()).setText(o, entry.getValue());
    }
    assertThat(GivenOptions.of(o)).containsExactlyInAnyOrderEntriesOf(given);
    var later = SolveOptions.Dropping.ANY.keeping(new int[] {-1}).later(true);
    assertThat(GivenOptions.of(SolveOption.DROPPING.set(SolveOptions.defaults(), later)))
        .containsExactlyInAnyOrderEntriesOf(Map.of("dropLater", "true", "keep", "[-1]"));
  }

  /** What devices did is in the JSON form of a profiled solve: by task, stage and device. */
  @Test
  void timelinesOfDevicesAreInTheJsonForm() throws Exception {
    assertThat(report(List.of()).toMap()).containsEntry("deviceTimeline", null);
    List<SolveProfile.Spent> spent =
        List.of(
            new SolveProfile.Spent("apply", 0.375, List.of(1.5, 0.0)),
            new SolveProfile.Spent("no task", 0.625, List.of(0.5, 2.0)));
    var task =
        new SolveProfile.Task(
            3,
            0,
            new SolveProfile.Run(0, "driver", "H200 a + H200 b", 8),
            0,
            2,
            new SolveProfile.Work(1, 1, 1, 1),
            new SolveProfile.Peak(1, 1, 1),
            List.of(
                new SolveProfile.DeviceTime(0, "H200 a", 2, 2, 77, 1, spent),
                new SolveProfile.DeviceTime(1, "H200 b", 2, 2, 78, 1, spent)));
    var none = SolveProfile.NONE;
    var profile =
        new SolveProfile(
            1,
            List.of(),
            List.of(task),
            List.of(),
            List.of(),
            List.of(),
            none.matrix(),
            none.factor(),
            0);
    JsonNode all =
        new ObjectMapper()
            .readTree(report(List.of()).withProfile(profile).toJson())
            .get("deviceTimeline");
    assertThat(all).hasSize(2);
    JsonNode last = all.get(1);
    assertThat(last.get("task").asInt()).isEqualTo(3);
    assertThat(last.get("stage").asInt()).isEqualTo(1);
    assertThat(last.get("device").asText()).isEqualTo("H200 b");
    assertThat(last.get("slots").asInt()).isEqualTo(2);
    assertThat(last.get("seconds").asDouble()).isEqualTo(2);
    assertThat(last.get("blocks").asInt()).isEqualTo(78);
    assertThat(last.get("binSeconds").asDouble()).isEqualTo(1);
    assertThat(last.get("spent").get(0).get("cause").asText()).isEqualTo("apply");
    assertThat(last.get("spent").get(0).get("share").asDouble()).isEqualTo(0.375);
    assertThat(last.get("spent").get(1).get("bins").get(1).asDouble()).isEqualTo(2);
  }

  @Test
  void nothingPrintsAnObjectHash() throws Exception {
    var report = report(List.of());
    var matrix = new io.sparqr.sparse.CsrMatrix(1, 1, new int[] {0, 1}, new int[1], new double[1]);
    var printed =
        List.of(
            report,
            report.rankTest(),
            report.residual(),
            new LeastSquaresSolution(
                new double[][] {{1, 2}}, new double[] {3}, 2, new int[] {1}, report),
            new Dependency(7, new int[] {0, 3}, new double[] {1, -0.5}),
            new Dependency(7, new int[0], new double[0]),
            new HalfSolve(1, new double[5], new boolean[] {true}),
            new RFactor(matrix, io.sparqr.sparse.Permutation.identity(1), new double[1], null),
            new TallReport(
                3,
                2,
                2,
                0,
                new double[] {2, 1},
                false,
                "",
                new TallReport.Seconds(0, 0, 0, 0),
                RunRecord.NONE),
            new QTransposed(new double[1][2], new double[1]));
    assertThat(printed).noneMatch(p -> p.toString().matches("(?s).*\\[+[A-Z][\\w.;]*@.*"));
    assertThat(printed.get(4)).hasToString("column 7 = 1 x column 0 - 0.5 x column 3");
    List<Class<?>> kinds = new ArrayList<>();
    printed.forEach(p -> kinds.add(p.getClass()));
    for (Class<?> one : List.of(SolveReport.class, Dependency.class, QRFactorization.class)) {
      for (Class<?> c : ofItsPackage(one)) {
        boolean arrays =
            c.isRecord()
                && Arrays.stream(c.getRecordComponents()).anyMatch(r -> r.getType().isArray());
        if (arrays && Modifier.isPublic(c.getModifiers())) {
          assertThat(kinds).as("printed here").contains(c);
        }
      }
    }
  }

  private static List<Class<?>> ofItsPackage(Class<?> one) throws Exception {
    List<Class<?>> all = new ArrayList<>();
    var folder = Path.of(one.getResource(one.getSimpleName() + ".class").toURI()).getParent();
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file :
          (Iterable<Path>) files.filter(f -> f.toString().endsWith(".class"))::iterator) {
        String name = file.getFileName().toString().replace(".class", "");
        if (!name.equals("package-info")) {
          all.add(Class.forName(one.getPackageName() + "." + name));
        }
      }
    }
    return all;
  }

  @Test
  void warningsAreNobodysToChange() {
    var given = new ArrayList<>(List.of("first"));
    SolveReport report = report(given);
    given.add("later");
    SolveReport more = report.withWarnings(List.of("second"));
    assertThat(report.warnings()).containsExactly("first");
    assertThat(more.warnings()).containsExactly("first", "second");
    assertThatThrownBy(() -> more.warnings().add("third"))
        .isInstanceOf(UnsupportedOperationException.class);
    assertThatThrownBy(() -> report.factorization().devices().clear())
        .isInstanceOf(UnsupportedOperationException.class);
  }

  @Test
  void goesThroughSerialization() throws Exception {
    SolveReport report = report(List.of("first"));
    var bytes = new ByteArrayOutputStream();
    try (var out = new ObjectOutputStream(bytes)) {
      out.writeObject(report);
    }
    try (var in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
      assertThat(((SolveReport) in.readObject()).toJson()).isEqualTo(report.toJson());
    }
  }

  @Test
  void tellsHowLongExecutorsWereWaitedFor() {
    SolveReport r = report(List.of());
    var waited =
        new SolveReport(
            r.matrix(),
            r.analysis(),
            new SolveReport.Cluster(3, 2.25),
            r.factorization(),
            r.rankTest(),
            r.proof(),
            r.traffic(),
            r.residual(),
            r.seconds(),
            r.warnings());
    assertThat(waited.toText())
        .contains("tree      5 subtree task(s) in 3 level(s), for 3 executor(s), waited for 2.3 s");
    assertThat(waited.toMap()).containsEntry("executors", 3).containsEntry("waitedSeconds", 2.25);
  }

  @Test
  void isReadable() {
    assertThat(report(List.of("first")).withReadSeconds(3).toText())
        .isEqualTo(
            """
            matrix    12,000 x 300, 40,000 nonzeros, 2 right-hand side(s)
            ordering  AMD: nnz(R) 900, 7 fronts, 2.0 GFLOP
                      asked for amd
            tree      5 subtree task(s) in 3 level(s)
            backend   cuda (required)
            fronts    3 by their Gram matrix, backward error 5.0e-16 as measured, 1 tried and refused
            devices   H200
            tuning    constants: no tuning file
            rank      298 of 300, tolerance 1.00e-10 (given); dependent columns 4, 17
            condition estimate 2.5e+08, nearly dependent: 3, 9
            residual  ||b - Ax|| = 1.000000000000e+00
                      ||b - Ax|| = 2.000000000000e+00
            sums      column norms and probes kept to 2.0e-16, 1 task(s) done again
            seconds   read 3.00, pattern 2.00, order 3.00, analyze 4.00, plan 5.00, rows 6.00, factorize 0.50, solve 8.00, total 31.50
            speed     4.0 GFLOP/s, 10 bytes shuffled
            warning   first
            """);
  }
}
