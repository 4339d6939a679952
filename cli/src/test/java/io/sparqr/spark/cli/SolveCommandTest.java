/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sparqr.matrix.DenseMatrix;
import io.sparqr.matrix.MatrixMarket;
import io.sparqr.matrix.MatrixMarketWriter;
import io.sparqr.matrix.gallery.DefaultRightHandSide;
import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.Tolerances;
import io.sparqr.spark.report.SolveReport.Seconds;
import io.sparqr.sparse.CsrMatrix;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SolveCommandTest {

  private static SparkSession spark;
  private static CsrMatrix matrix;
  private static DenseMatrix rhs;
  private static double[][] expected;

  @TempDir Path folder;

  @BeforeAll
  static void start() {
    spark = CliRun.session();
    matrix = Gallery.generate("gen:cells2d12");
    expected = new double[2][matrix.columns()];
    for (int j = 0; j < matrix.columns(); j++) {
      expected[0][j] = Math.sin(j);
      expected[1][j] = j - 50;
    }
    rhs =
        DenseMatrix.ofColumns(
            matrix.rows(), matrix.multiply(expected[0]), matrix.multiply(expected[1]));
  }

  private Path file(String name) {
    return folder.resolve(name);
  }

  private CliRun solved(Object... arguments) {
    Object[] all = new Object[arguments.length + 1];
    all[0] = "solve";
    System.arraycopy(arguments, 0, all, 1, arguments.length);
    CliRun run = CliRun.of(all);
    assertThat(run.code()).as(run.err()).isZero();
    return run;
  }

  private void assertSolution(Path out, int column, double[] x) throws IOException {
    DenseMatrix read = MatrixMarket.readDense(out);
    assertThat(read.rows()).isEqualTo(x.length);
    double size = 0;
    double error = 0;
    for (int j = 0; j < x.length; j++) {
      size = Math.max(size, Math.abs(x[j]));
      error = Math.max(error, Math.abs(read.values()[column * x.length + j] - x[j]));
    }
    assertThat(error).isLessThanOrEqualTo(Tolerances.SOLUTION * size);
  }

  @Test
  void solvesAMatrixMarketFileWithTwoRightHandSides() throws IOException {
    MatrixMarketWriter.writeCoordinate(file("a.mtx.gz"), matrix);
    MatrixMarketWriter.writeArray(file("b.mtx"), rhs);
    CliRun run =
        solved(
            "--matrix",
            file("a.mtx.gz"),
            "--rhs",
            file("b.mtx"),
            "--out",
            file("x.mtx"),
            "--report",
            file("r.json"),
            "--ordering",
            "colamd",
            "--partitions",
            3);
    assertSolution(file("x.mtx"), 0, expected[0]);
    assertSolution(file("x.mtx"), 1, expected[1]);
    assertThat(run.out()).contains("242 x 144", "rank", "144 of 144", "factorize");
    try (var files = Files.list(folder)) {
      assertThat(files.map(f -> f.getFileName().toString()))
          .containsExactlyInAnyOrder("a.mtx.gz", "b.mtx", "x.mtx", "r.json");
    }
    assertThat(spark.sparkContext().getPersistentRDDs().size()).isZero();
  }

  private JsonNode reportOfAFailure(int code, String... arguments) throws IOException {
    List<Object> all = new ArrayList<>(List.of("solve", "--out", file("x.mtx")));
    all.addAll(List.of("--report", file("failed.json"), "--overwrite"));
    all.addAll(List.of(arguments));
    CliRun run = CliRun.of(all.toArray());
    assertThat(run.code()).as(run.err()).isEqualTo(code);
    assertThat(run.errors()).hasSize(1);
    assertThat(file("x.mtx")).doesNotExist();
    JsonNode report = new ObjectMapper().readTree(file("failed.json").toFile());
    assertThat(run.errors().get(0)).isEqualTo("sparqr: " + report.at("/error/message").asText());
    assertThat(report.at("/seconds/read").asDouble()).isPositive();
    assertThat(report.at("/seconds/total").asDouble())
        .isGreaterThanOrEqualTo(report.at("/seconds/read").asDouble());
    return report;
  }

  @Test
  void aFailedRunLeavesAReport() throws IOException {
    String head = "%%MatrixMarket matrix coordinate real general\n";
    Files.writeString(file("nan.mtx"), head + "3 2 3\n1 1 1\n2 2 nan\n3 1 1\n");
    JsonNode read = reportOfAFailure(3, "--matrix", file("nan.mtx").toString());
    assertThat(read.at("/error/phase").asText()).isEqualTo("read");
    assertThat(read.at("/error/message").asText()).contains("nan.mtx:4: the value of row 2");
    assertThat(read.at("/seconds/pattern").asDouble()).isZero();

    Files.writeString(file("huge.mtx"), head + "3 2 3\n1 1 1.7e308\n2 2 1\n3 1 1.7e308\n");
    JsonNode plan = reportOfAFailure(3, "--matrix", file("huge.mtx").toString());
    assertThat(plan.at("/error/phase").asText()).isEqualTo("plan");
    assertThat(plan.at("/error/message").asText()).isEqualTo("the 2-norm of column 0 overflows");
    assertThat(plan.at("/rows").asInt()).isEqualTo(3);
    assertThat(plan.at("/ordering").asText()).isNotEmpty();
    assertThat(plan.at("/seconds/pattern").asDouble()).isPositive();
  }

  @Test
  void aRunThatIsRefusedLeavesNone() {
    CliRun.of("solve", "--matrix", "gen:nug5", "--repeat", 0, "--report", file("none.json"));
    assertThat(file("none.json")).doesNotExist();
  }

  /** Refused before anything is read: the file does not exist. */
  @ParameterizedTest
  @CsvSource({
    "--criteria 0, '--criteria 0: at least 1 probe'",
    "--criteria -3, '--criteria -3: at least 1 probe'",
    "--criteria many, many",
    "--criteria --minimum-norm, '--criteria and --minimum-norm: a minimum norm takes two Q'",
    "--criteria 8 --minimum-norm, '--criteria and --minimum-norm: a minimum norm takes two Q'",
    "--criteria --engine local, '--criteria takes Spark'"
  })
  void criteriaThatCannotBeTakenAreRefused(String options, String said) {
    List<Object> all = new ArrayList<>(List.of("solve", "--matrix", "gen:cells2d4"));
    all.addAll(List.of(options.split(" ")));
    CliRun run = CliRun.of(all.toArray());
    assertThat(run.code()).isNotZero();
    assertThat(run.err().lines().filter(line -> line.contains(said))).as(run.err()).hasSize(1);
    assertThat(run.out()).isEmpty();
  }

  @Test
  void reportSaysWhenWhereAndByWhat() throws IOException {
    Path json = file("run.json");
    CliRun run =
        solved(
            "--matrix",
            "gen:cells2d12",
            "--ridge",
            "0.5",
            "--master",
            "local[2]",
            "--report",
            json);
    JsonNode told = new ObjectMapper().readTree(Files.readString(json)).get("run");
    assertThat(told.get("input").asText()).isEqualTo("gen:cells2d12");
    assertThat(told.at("/options/ridge").asText()).isEqualTo("0.5");
    assertThat(told.at("/versions/spark").asText()).isEqualTo(spark.version());
    assertThat(told.get("applicationId").asText()).isEqualTo(spark.sparkContext().applicationId());
    assertThat(told.get("hosts")).hasSize(1);
    assertThat(Instant.parse(told.get("startedAt").asText()))
        .isBetween(Instant.now().minusSeconds(600), Instant.now());
    assertThat(run.out()).contains("input     gen:cells2d12\n").contains("options   ");
    Path analysis = file("analysis.json");
    CliRun analyzed = CliRun.of("analyze", "--matrix", "gen:cells2d4", "--report", analysis);
    assertThat(analyzed.code()).as(analyzed.err()).isZero();
    JsonNode there = new ObjectMapper().readTree(Files.readString(analysis)).get("run");
    assertThat(there.get("input").asText()).isEqualTo("gen:cells2d4");
  }

  @Test
  void reportHasExactlyTheAgreedKeys() throws IOException {
    solved("--matrix", "gen:cells2d8", "--report", file("r.json"), "--check", "--repeat", 3);
    JsonNode report = new ObjectMapper().readTree(file("r.json").toFile());
    List<String> keys = new ArrayList<>();
    report.fieldNames().forEachRemaining(keys::add);
    assertThat(keys)
        .containsExactly(
            "rows",
            "columns",
            "nonzeros",
            "rhs",
            "ordering",
            "orderingReason",
            "nnzR",
            "fronts",
            "flops",
            "flopsDone",
            "method",
            "gramFronts",
            "gramRefused",
            "gramFlops",
            "gramError",
            "tolerance",
            "toleranceReason",
            "rank",
            "deadColumns",
            "conditionEstimate",
            "nearlyDependent",
            "residualNorm",
            "residualSource",
            "normalResidual",
            "backwardError",
            "componentwiseError",
            "verdict",
            "criteria",
            "normDeparture",
            "backend",
            "backendReason",
            "devices",
            "subtreeTasks",
            "levels",
            "executors",
            "waitedSeconds",
            "engine",
            "engineReason",
            "stages",
            "rounds",
            "tasks",
            "tuning",
            "redoneTasks",
            "shuffleBytes",
            "h2dBytes",
            "d2hBytes",
            "seconds",
            "gflops",
            "boundSeconds",
            "boundShare",
            "peakDeviceBytes",
            "peakHostBytes",
            "foretoldHostBytes",
            "factorBytes",
            "deviceTimeline",
            "warnings",
            "notes",
            "run");
    List<String> seconds = new ArrayList<>();
    report.get("seconds").fieldNames().forEachRemaining(seconds::add);
    assertThat(seconds)
        .containsExactly(
            "read",
            "pattern",
            "order",
            "analyze",
            "plan",
            "assemble",
            "factorize",
            "solve",
            "total");
    assertThat(report.get("orderingReason").asText()).startsWith("auto: amd");
    assertThat(report.get("tolerance").asDouble())
        .isEqualTo(FactorOptions.defaultTolerance(98, 64, 1));
    assertThat(report.get("toleranceReason").asText()).contains("20 (m+n) eps");
    assertThat(report.get("rows").asLong()).isEqualTo(98);
    assertThat(report.get("columns").asInt()).isEqualTo(64);
    assertThat(report.get("nonzeros").asLong()).isEqualTo(392);
    assertThat(report.get("rank").asInt()).isEqualTo(64);
    assertThat(report.get("normalResidual").asDouble()).isBetween(0.0, Tolerances.NORMAL_RESIDUAL);
    assertThat(report.get("residualNorm").asDouble()).isPositive();
    assertThat(report.get("deadColumns").isArray()).isTrue();
    assertThat(report.get("warnings").isArray()).isTrue();
    assertThat(report.get("boundSeconds").asDouble()).isPositive();
    assertThat(report.get("boundShare").asDouble()).isBetween(0.0, 1.0);
  }

  @ParameterizedTest
  @ValueSource(strings = {"auto", "colamd", "amd", "nd", "natural", "best"})
  void everyOrderingGivesTheSameAnswer(String ordering) throws IOException {
    MatrixMarketWriter.writeCoordinate(file("a.mtx"), matrix);
    MatrixMarketWriter.writeArray(file("b.mtx"), rhs);
    solved(
        "--matrix",
        file("a.mtx"),
        "--rhs",
        file("b.mtx"),
        "--out",
        file("x.mtx"),
        "--ordering",
        ordering,
        "--backend",
        "cpu");
    assertSolution(file("x.mtx"), 0, expected[0]);
  }

  @Test
  void tablesGiveTheAnswerOfTheFile() throws IOException {
    MatrixMarketWriter.writeArray(file("b.mtx"), rhs);
    StringBuilder csv = new StringBuilder("row,column,value\n");
    for (int i = 0; i < matrix.rows(); i++) {
      for (int k = matrix.rowStart()[i]; k < matrix.rowStart()[i + 1]; k++) {
        // In two halves, which are summed.
        String half = i + "," + matrix.columnIndex()[k] + "," + matrix.values()[k] / 2 + "\n";
        csv.append(half).append(half);
      }
    }
    Files.writeString(file("a.csv"), csv);
    spark
        .read()
        .option("header", true)
        .option("inferSchema", true)
        .csv(file("a.csv").toString())
        .write()
        .parquet(file("a.parquet").toString());
    for (String table : new String[] {"a.csv", "a.parquet"}) {
      Path out = file(table + ".x");
      solved("--matrix", file(table), "--rhs", file("b.mtx"), "--out", out);
      assertSolution(out, 0, expected[0]);
      assertSolution(out, 1, expected[1]);
    }
    assertThat(spark.sparkContext().getPersistentRDDs().size()).isZero();
  }

  @Test
  void aHoleInATableIsShown() {
    Path file = file("hole.parquet");
    spark
        .sql("select * from values (0L, 0L, 1.0D), (1L, null, 2.0D) as t(row, column, value)")
        .write()
        .parquet(file.toString());
    CliRun run = CliRun.of("solve", "--matrix", file);
    assertThat(run.code()).isEqualTo(1);
    assertThat(run.err())
        .containsPattern("hole\\.parquet/part-\\S+: a null in the entry \\(1, null, 2\\.0\\)");
  }

  @Test
  void tableWithoutRightHandSideGetsTheDefaultOne() throws IOException {
    StringBuilder csv = new StringBuilder();
    for (int i = 0; i < matrix.rows(); i++) {
      for (int k = matrix.rowStart()[i]; k < matrix.rowStart()[i + 1]; k++) {
        csv.append(i + "," + matrix.columnIndex()[k] + "," + matrix.values()[k] + "\n");
      }
    }
    Files.writeString(file("a.csv"), csv);
    solved("--matrix", file("a.csv"), "--out", file("table.mtx"));
    solved("--matrix", "gen:cells2d12", "--out", file("gen.mtx"));
    assertSolution(file("table.mtx"), 0, MatrixMarket.readDense(file("gen.mtx")).values());
  }

  @Test
  void libsvmLabelsAreTheRightHandSide() throws IOException {
    Files.writeString(file("a.svm"), "1 1:1\n3 1:1 2:1\n4 1:1 2:2\n8 1:1 2:3\n9 1:1 2:4\n");
    solved("--matrix", file("a.svm"), "--out", file("x.mtx"));
    assertSolution(file("x.mtx"), 0, new double[] {0.8, 2.1});
  }

  /** The same bits, if the rows are in the same partitions. */
  @Test
  void executorsReadWhatTheDriverReads() throws IOException {
    MatrixMarketWriter.writeCoordinate(file("a.mtx"), matrix);
    MatrixMarketWriter.writeArray(file("b.mtx"), rhs);
    Files.writeString(file("a.svm"), "1 1:1\n3 1:1 2:1\n4 1:1 2:2\n8 1:1 2:3\n9 1:1 2:4\n");
    for (String problem :
        new String[] {
          "--matrix F/a.mtx --rhs F/b.mtx", "--matrix F/a.mtx --transpose", "--matrix F/a.svm"
        }) {
      for (String reader : new String[] {"driver", "executors"}) {
        String words = problem + " --reader " + reader + " --partitions 1 --overwrite --out F/x.";
        CliRun run = solved((Object[]) (words + reader).replace("F/", folder + "/").split(" "));
        assertThat(run.err().contains("read by the executors in"))
            .isEqualTo(reader.equals("executors"));
      }
      assertThat(file("x.executors")).hasSameBinaryContentAs(file("x.driver"));
    }
    assertThat(spark.sparkContext().getPersistentRDDs().size()).isZero();
  }

  @Test
  void transposeTakesTheTranspose() throws IOException {
    MatrixMarketWriter.writeCoordinate(file("at.mtx"), matrix.transpose());
    MatrixMarketWriter.writeArray(file("b.mtx"), rhs);
    solved(
        "--matrix", file("at.mtx"), "--transpose", "--rhs", file("b.mtx"), "--out", file("x.mtx"));
    assertSolution(file("x.mtx"), 1, expected[1]);
  }

  @Test
  void wideMatrixGetsABasicSolution() throws IOException {
    CsrMatrix wide = matrix.transpose();
    MatrixMarketWriter.writeCoordinate(file("wide.mtx"), wide);
    solved("--matrix", file("wide.mtx"), "--out", file("x.mtx"), "--report", file("r.json"));
    double[] x = MatrixMarket.readDense(file("x.mtx")).values();
    double[] b = DefaultRightHandSide.of(wide);
    double[] ax = wide.multiply(x);
    double close = Tolerances.of(242, 144, Tolerances.size(wide, b, x));
    for (int i = 0; i < b.length; i++) {
      assertThat(Math.abs(ax[i] - b[i])).isLessThan(close);
    }
    JsonNode report = new ObjectMapper().readTree(file("r.json").toFile());
    assertThat(report.get("rank").asInt()).isEqualTo(144);
    assertThat(report.get("deadColumns")).hasSize(242 - 144);
  }

  @Test
  void ridgeAndOverwrite() throws IOException {
    Files.writeString(file("a.svm"), "2 1:1\n2 1:1\n");
    Files.writeString(file("x.mtx"), "old");
    solved("--matrix", file("a.svm"), "--ridge", 2, "--out", file("x.mtx"), "--overwrite");
    assertSolution(file("x.mtx"), 0, new double[] {1});
  }

  @Test
  void generateWritesTheGallery() throws IOException {
    CliRun run = CliRun.of("generate", "gen:ch4-4-b2:rand", "--out", file("ch.mtx.gz"));
    assertThat(run.code()).as(run.err()).isZero();
    assertThat(run.out()).contains("96 x 72, 288 nonzeros");
    CsrMatrix back = MatrixMarket.readMatrix(file("ch.mtx.gz"));
    assertThat(back.values()).isEqualTo(Gallery.generate("ch4-4-b2:rand").values());
    assertThat(CliRun.of("generate", "gen:nug3", "--out", file("ch.mtx.gz")).code()).isEqualTo(2);
  }

  @Test
  void analyzeShowsTheCostAndWritesNothing() throws IOException {
    CliRun run = CliRun.of("analyze", "--matrix", "gen:cells2d60", "--executors", 4);
    assertThat(run.code()).as(run.err()).isZero();
    assertThat(run.out())
        .contains(
            "6,962 x 3,600, 27,848 nonzeros",
            "nonzeros of R",
            "work",
            "tree",
            "critical path",
            "columns of front",
            "workers levels",
            "work in tiles",
            "over 4 executor(s)",
            "with a GPU each",
            "level 1:");
    try (var files = Files.list(folder)) {
      assertThat(files).isEmpty();
    }
  }

  @Test
  void analyzeForGpusSearchesLessForAnOrder() {
    assertThat(CliRun.of("analyze", "--matrix", "gen:nug10").out()).contains("against amd");
    assertThat(CliRun.of("analyze", "--matrix", "gen:nug10", "--gpu").out())
        .containsPattern("AMD \\(auto: amd .* at [0-9.e+]+ Gflop/s\\)");
  }

  @Test
  void helpNamesEveryOption() {
    assertThat(CliRun.of("solve", "--help").out())
        .contains(
            "--matrix=FILE|gen:SPEC",
            "--rhs=FILE",
            "--out=FILE",
            "--report=FILE",
            "--check",
            "--backend=NAME",
            "--ordering=NAME",
            "--rank-tolerance",
            "--rank-tolerance=T",
            "--master=URL",
            "--executors=K",
            "--partitions=K",
            "--repeat=K",
            "--overwrite",
            "--transpose",
            "--verbose");
    assertThat(CliRun.of("--version").out()).startsWith("sparqr ").doesNotContain("${");
  }

  @Test
  void mediansAreTakenPartByPart() {
    Seconds a = new Seconds(0, 1, 2, 3, 4, 5, 6, 7, 10);
    Seconds b = new Seconds(0, 3, 2, 1, 4, 5, 8, 9, 30);
    Seconds c = new Seconds(0, 2, 2, 2, 4, 5, 1, 8, 20);
    assertThat(Medians.of(List.of(a, b, c))).isEqualTo(new Seconds(0, 2, 2, 2, 4, 5, 6, 8, 20));
    assertThat(Medians.of(List.of(a, b)).factorize()).isEqualTo(7);
  }
}
