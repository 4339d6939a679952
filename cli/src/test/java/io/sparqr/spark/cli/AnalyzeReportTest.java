/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sparqr.numeric.Tolerances;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AnalyzeReportTest {

  @TempDir Path folder;

  private Path file(String name) {
    return folder.resolve(name);
  }

  private JsonNode json(String name, Object... command) throws IOException {
    var all = new ArrayList<Object>(List.of(command));
    all.addAll(List.of("--report", file(name)));
    CliRun run = CliRun.of(all.toArray());
    assertThat(run.code()).as(run.err()).isZero();
    return new ObjectMapper().readTree(file(name).toFile());
  }

  /** The prediction equals what a solve of the same matrix reports afterwards. */
  @Test
  void foretellsWhatASolveReports() throws IOException {
    String matrix = "gen:cells2d40:rand";
    JsonNode a = json("a.json", "analyze", "--matrix", matrix, "--executors", 3);
    JsonNode s =
        json("s.json", "solve", "--matrix", matrix, "--engine", "local", "--backend", "cpu");
    for (String key :
        List.of("rows", "columns", "nonzeros", "ordering", "fronts", "flops", "nnzR")) {
      assertThat(a.path(key).asText()).as(key).isNotEmpty();
      assertThat(a.path(key).asDouble()).as(key).isEqualTo(s.path(key).asDouble());
    }
    // after this the reasons contain a time, too
    assertThat(a.path("orderingReason").asText().split(";")[0])
        .startsWith("auto: amd ")
        .isEqualTo(s.path("orderingReason").asText().split(";")[0]);
    assertThat(a.path("executors").asInt()).isEqualTo(3);
    assertThat(a.path("byLevel")).hasSize(a.path("levels").asInt());
    int tasks = 0;
    double flops = 0;
    long fronts = 0;
    for (JsonNode level : a.path("byLevel")) {
      tasks += level.path("tasks").asInt();
      fronts += level.path("fronts").asLong();
      flops += level.path("flops").asDouble();
      assertThat(level.path("foretoldHostBytes").asLong())
          .isPositive()
          .isLessThanOrEqualTo(a.path("foretoldHostBytes").asLong());
    }
    assertThat(tasks).isEqualTo(a.path("subtreeTasks").asInt());
    assertThat(fronts).isEqualTo(a.path("fronts").asLong());
    assertThat(flops / a.path("flops").asDouble()).isCloseTo(1, within(Tolerances.REORDERED));
    assertThat(a.path("foretoldExecutorBytes").asLong())
        .isGreaterThanOrEqualTo(a.path("foretoldHostBytes").asLong());
    for (String table : List.of("onProcessors", "onDevices")) {
      assertThat(a.path(table).findValuesAsText("executors"))
          .as("and the number that was asked for")
          .containsExactly("1", "2", "3", "4", "8", "16");
      assertThat(a.path(table).path(0).path("executors").asInt()).isEqualTo(1);
      assertThat(a.path(table).path(0).path("speedup").asDouble()).isEqualTo(1);
      assertThat(a.path(table).path(4).path("estimatedSeconds").asDouble()).isPositive();
    }
    assertThat(a.at("/advice/take").asText()).isEqualTo("qr");
    assertThat(a.at("/advice/ways/0/method").asText()).isEqualTo("qr");
    assertThat(a.at("/advice/ways/0/seconds")).isEqualTo(a.path("estimatedSeconds"));
    JsonNode seconds = a.path("seconds");
    double parts = 0;
    for (String phase : List.of("read", "order", "analyze", "plan")) {
      assertThat(seconds.path(phase).asDouble()).as(phase).isPositive();
      parts += seconds.path(phase).asDouble();
    }
    assertThat(seconds.path("total").asDouble())
        .isGreaterThanOrEqualTo(parts * (1 - Tolerances.REORDERED));
  }

  /** Executors of several devices are cut for as workers of one each, on the same executors. */
  @Test
  void executorsMayHaveSeveralDevices() throws IOException {
    String matrix = "gen:cells2d60";
    JsonNode two =
        json("two.json", "analyze", "--matrix", matrix, "--executors", 3, "--devices", 2);
    JsonNode one =
        json("one.json", "analyze", "--matrix", matrix, "--executors", 6, "--devices", 1);
    assertThat(two.path("devices").asInt()).isEqualTo(2);
    assertThat(two.path("executors").asInt()).isEqualTo(3);
    assertThat(two.path("payingExecutors").asInt()).isEqualTo(1);
    assertThat(two.path("payingReason").asText()).startsWith("1 of 3 executors: predicted ");
    assertThat(two.path("boundSeconds").asDouble()).isPositive();
    assertThat(two.path("boundSeconds")).isEqualTo(one.path("boundSeconds"));
    JsonNode line = two.path("onDevices").path(2);
    assertThat(line.path("executors").asInt()).isEqualTo(3);
    assertThat(line.path("devices").asInt()).isEqualTo(2);
    assertThat(line.path("estimatedSeconds")).isEqualTo(two.path("estimatedSeconds"));
    assertThat(line.path("boundSeconds")).isEqualTo(two.path("boundSeconds"));
    assertThat(two.path("onProcessors").path(2).path("devices").asInt()).isZero();
    assertThat(two.has("payingSizes")).isFalse();

    CliRun none = CliRun.of("analyze", "--matrix", matrix, "--devices", 0);
    assertThat(none.code()).isEqualTo(2);
    assertThat(none.errors().get(0)).contains("--devices 0: 1 to 100,000 GPUs an executor");
  }

  @Test
  void sizesAreSimulatedToAThousandExecutors() throws IOException {
    JsonNode a = json("s.json", "analyze", "--matrix", "gen:cells2d12", "--simulate");
    JsonNode sizes = a.path("payingSizes");
    assertThat(sizes).hasSize(11);
    assertThat(sizes.path(10).path("executors").asInt()).isEqualTo(1000);
    double before = 0;
    for (JsonNode size : sizes) {
      if (!size.path("times").isNull()) {
        assertThat(size.path("flops").asDouble())
            .isEqualTo(size.path("times").asDouble() * a.path("flops").asDouble())
            .isGreaterThanOrEqualTo(before);
        before = size.path("flops").asDouble();
      }
    }
    assertThat(before)
        .as("more than one pays for a large one")
        .isGreaterThan(a.path("flops").asDouble());
    CliRun text = CliRun.of("analyze", "--matrix", "gen:cells2d12", "--simulate", "--devices", 2);
    assertThat(text.out())
        .contains("over 1 executor(s) with 2 GPUs each, like an H200: ", "pay from", "     1000 ");
  }

  /**
   * The choice of the CPU for a problem that is too small for a device is the same as in a solve.
   */
  @Test
  void tellsTheBackendThatASolveTakes() throws IOException {
    String matrix = "gen:cells2d12";
    JsonNode a = json("a.json", "analyze", "--matrix", matrix);
    JsonNode s = json("s.json", "solve", "--matrix", matrix, "--engine", "local");
    assertThat(a.path("backend").asText()).isEqualTo("cpu");
    assertThat(a.path("backendReason")).isEqualTo(s.path("backendReason"));
  }

  @Test
  void aPageHasTheTextAndTheFigures() throws IOException {
    CliRun run =
        CliRun.of("analyze", "--matrix", "gen:cells2d12", "--report", file("a.html").toString());
    assertThat(run.code()).as(run.err()).isZero();
    String page = Files.readString(file("a.html"));
    assertThat(page)
        .startsWith("<!DOCTYPE html>")
        .contains("analysis of 242 x 144", "with a GPU each, like an H200:", "\"nnzR\"")
        .doesNotContainPattern("@(text|data|title)");
    assertThat(run.out()).contains("backend ", "advice ", "subtree tasks in");
  }

  @Test
  void refusesAndReportsAsSolveDoes() throws IOException {
    Files.writeString(file("there.json"), "mine");
    CliRun there =
        CliRun.of("analyze", "--matrix", "gen:cells2d12", "--report", file("there.json"));
    assertThat(there.code()).isEqualTo(2);
    assertThat(there.errors().get(0)).contains("exists (--overwrite replaces it)");
    assertThat(file("there.json")).hasContent("mine");

    Files.writeString(
        file("bad.mtx"), "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 7 1\n");
    CliRun bad =
        CliRun.of(
            "analyze", "--matrix", file("bad.mtx"), "--report", file("there.json"), "--overwrite");
    assertThat(bad.code()).isEqualTo(1);
    JsonNode report = new ObjectMapper().readTree(file("there.json").toFile());
    assertThat(report.at("/error/phase").asText()).isEqualTo("read");
    assertThat(bad.errors()).containsExactly("sparqr: " + report.at("/error/message").asText());
  }
}
