/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.sparqr.error.InsufficientMemoryException;
import io.sparqr.matrix.DenseMatrix;
import io.sparqr.spark.input.LocalProblem;
import io.sparqr.spark.input.UsageException;
import io.sparqr.sparse.CsrMatrix;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A solve in this JVM alone, compared with the same on Spark with as many cores. */
class LocalSolveTest {

  private static SparkSession spark;

  @TempDir Path folder;

  @BeforeAll
  static void start() {
    spark =
        SparkSession.builder()
            .master("local[*]")
            .config("spark.ui.enabled", false)
            .config("spark.driver.host", "127.0.0.1")
            .getOrCreate();
  }

  @AfterAll
  static void stop() {
    spark.stop();
  }

  private CliRun run(String engine, String words, String... files) {
    var all = new ArrayList<Object>(List.of("solve", "--engine", engine, "--overwrite"));
    all.addAll(List.of(words.split(" ")));
    all.addAll(Arrays.asList(files));
    return CliRun.of(all.toArray());
  }

  private Path file(String name) {
    return folder.resolve(name);
  }

  private JsonNode report(Path json) throws IOException {
    return new ObjectMapper().readTree(json.toFile());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "--matrix gen:cells2d20",
        "--matrix gen:cells2d60 --executors 3 --check",
        "--matrix gen:onehot3000x40x20 --check --refine 1",
        "--matrix gen:onehot3000x40x20 --ridge 0.5 --check",
        "--matrix gen:cells2d12:rand --transpose",
        "--matrix gen:ch4-4-b2 --no-equilibrate --ordering nd --partitions 5 --repeat 2",
        "--matrix gen:ch4-4-b2 --tolerance -1 --backend cpu",
      })
  void bothEnginesGiveTheSameBits(String words) throws IOException {
    var reports = new ArrayList<ObjectNode>();
    for (String engine : List.of("spark", "local")) {
      CliRun run =
          run(
              engine,
              words,
              "--out",
              file(engine + ".mtx").toString(),
              "--report",
              file(engine + ".json").toString());
      assertThat(run.code()).as(run.err()).isZero();
      assertThat(run.out()).containsPattern("engine +" + engine + " \\(asked for\\)");
      ObjectNode report = (ObjectNode) report(file(engine + ".json"));
      assertThat(report.path("engine").asText()).isEqualTo(engine);
      assertThat(report.path("engineReason").asText()).isEqualTo("asked for");
      assertThat(report.at("/seconds/total").asDouble()).isPositive();
      // the ordering's reason contains a time
      report.remove(List.of("engine", "engineReason", "orderingReason", "seconds", "gflops"));
      report.remove(List.of("boundShare", "run"));
      // what several threads had at a time, and R's slabs, of which each thread has its own
      report.remove(List.of("peakHostBytes", "factorBytes"));
      reports.add(report);
    }
    assertThat(file("local.mtx")).hasSameBinaryContentAs(file("spark.mtx"));
    assertThat(reports.get(1)).isEqualTo(reports.get(0));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "3 2 3\n1 1 1.7e308\n2 2 1\n3 1 1.7e308\n",
        "3 2 3\n1 1 1\n2 2 nan\n3 1 1\n",
        "3 2 3\n1 1 1\n2 5 1\n3 1 1\n",
        "3 2 3\n1 1 1\n2 2 1\n",
        "0 2 0\n",
      })
  void bothEnginesRefuseTheSame(String body) throws IOException {
    String head = "%%MatrixMarket matrix coordinate real general\n";
    Files.writeString(file("a.mtx"), head + body);
    String[] where = {"--report", file("r.json").toString()};
    CliRun onSpark = run("spark", "--matrix " + file("a.mtx"), where);
    JsonNode told = report(file("r.json")).path("error");
    if (told.path("phase").asText().equals("plan")) {
      assertThat(report(file("r.json")).path("engineReason").asText()).isEqualTo("asked for");
    }
    CliRun local = run("local", "--matrix " + file("a.mtx"), where);
    assertThat(local.code()).isEqualTo(onSpark.code()).isNotZero();
    assertThat(local.errors()).isEqualTo(onSpark.errors()).hasSize(1);
    assertThat(report(file("r.json")).at("/error/message")).isEqualTo(told.path("message"));
    assertThat(report(file("r.json")).at("/error/phase")).isEqualTo(told.path("phase"));
  }

  @Test
  void aPageTellsOfLocalTasks() throws IOException {
    Path page = file("r.html");
    CliRun run = run("local", "--matrix gen:cells2d20", "--report", page.toString());
    assertThat(run.code()).as(run.err()).isZero();
    assertThat(Files.readString(page)).contains("\"place\":\"driver\"");
  }

  @Test
  void whatOnlySparkHasGoesToSpark() throws IOException {
    for (String words :
        List.of(
            "--minimum-norm",
            "--minimum-executors 1",
            "--executor-wait 1",
            "--master local[2]",
            "--reader executors")) {
      String matrix = file("a.mtx").toString();
      Files.writeString(
          file("a.mtx"), "%%MatrixMarket matrix coordinate real general\n2 1 2\n1 1 1\n2 1 1\n");
      CliRun auto =
          run("auto", "--matrix " + matrix + " " + words, "--report", file("r.json").toString());
      assertThat(auto.code()).as(auto.err()).isZero();
      assertThat(report(file("r.json")).path("engine").asText()).isEqualTo("spark");
      CliRun local = run("local", "--matrix " + matrix + " " + words);
      assertThat(local.code()).isEqualTo(2);
      assertThat(local.errors().get(0))
          .startsWith("sparqr: --engine local: ")
          .endsWith(report(file("r.json")).path("engineReason").asText());
    }
  }

  @Test
  void whatHasNoMemoryHereGoesToSpark() {
    var told = new ArrayList<EngineChoice.Chosen>();
    var here = new EngineChoice.Chosen(false, "small");
    Supplier<String> without =
        () -> {
          throw new InsufficientMemoryException("too much", 2, 1);
        };
    assertThat(EngineChoice.AUTO.solve(here, without, () -> "spark", told::add)).isEqualTo("spark");
    assertThat(told).containsExactly(here, new EngineChoice.Chosen(true, "too much"));
    assertThatThrownBy(() -> EngineChoice.LOCAL.solve(here, without, () -> "spark", told::add))
        .isInstanceOf(InsufficientMemoryException.class);
    told.clear();
    assertThat(EngineChoice.AUTO.solve(here, () -> "local", without, told::add)).isEqualTo("local");
    assertThat(told).containsExactly(here);
  }

  private static LocalProblem problem(int nonzeros) {
    int[] start = new int[nonzeros + 1];
    for (int i = 0; i <= nonzeros; i++) {
      start[i] = i;
    }
    double[] ones = new double[nonzeros];
    Arrays.fill(ones, 1);
    var a = new CsrMatrix(nonzeros, 1, start, new int[nonzeros], ones);
    return new LocalProblem(a, new DenseMatrix(nonzeros, 1, ones));
  }

  @Test
  void theSizeAndSparksSettingsDecide() {
    LocalProblem small = problem(EngineChoice.MOST_NONZEROS);
    LocalProblem large = problem(EngineChoice.MOST_NONZEROS + 1);
    Optional<String> none = Optional.empty();
    assertThat(EngineChoice.AUTO.choose(none, small))
        .isEqualTo(
            new EngineChoice.Chosen(false, "2,000,000 nonzeros, at most 2,000,000: no Spark"));
    assertThat(EngineChoice.AUTO.choose(none, large))
        .isEqualTo(new EngineChoice.Chosen(true, "2,000,001 nonzeros, more than 2,000,000"));
    assertThat(EngineChoice.LOCAL.choose(none, large).spark()).isFalse();
    assertThat(EngineChoice.SPARK.choose(none, small).spark()).isTrue();
    assertThat(EngineChoice.AUTO.choose(Optional.of("why"), small))
        .isEqualTo(new EngineChoice.Chosen(true, "why"));
    assertThatThrownBy(() -> EngineChoice.LOCAL.choose(Optional.of("why"), small))
        .isInstanceOf(UsageException.class)
        .hasMessage("--engine local: why");
    System.setProperty("spark.local.dir", "target");
    try {
      assertThat(EngineChoice.AUTO.choose(none, small))
          .isEqualTo(new EngineChoice.Chosen(true, "spark.local.dir is set"));
    } finally {
      System.clearProperty("spark.local.dir");
    }
  }
}
