/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Results are complete, or an error reports their loss. */
class OutputsTest {

  @TempDir Path folder;

  private List<String> names() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.map(f -> f.getFileName().toString()).sorted().toList();
    }
  }

  @Test
  void theLaterOfTwoRunsIsToldAndKeepsItsResult() throws IOException {
    Path x = folder.resolve("x.mtx");
    Path report = folder.resolve("r.json");
    Outputs.check(x, false);
    try (Outputs first = new Outputs(false);
        Outputs second = new Outputs(false)) {
      first.add(x, file -> Files.writeString(file, "first"));
      second.add(report, file -> Files.writeString(file, "report"));
      second.add(x, file -> Files.writeString(file, "second"));
      first.commit();
      assertThatThrownBy(second::commit)
          .isInstanceOf(OutputException.class)
          .hasMessageContaining("x.mtx was written by another run meanwhile")
          .hasMessageContaining("--overwrite");
    }
    assertThat(x).hasContent("first");
    // The report could have been written, but results appear together or not at all.
    assertThat(report).doesNotExist();
    List<String> kept = names().stream().filter(n -> n.startsWith(".sparqr-")).toList();
    assertThat(kept).hasSize(2);
    String ofX = kept.stream().filter(n -> n.endsWith("-x.mtx")).findFirst().orElseThrow();
    assertThat(folder.resolve(ofX)).hasContent("second");
  }

  /** Many writers at once: one wins, all others get an error, nothing is mixed. */
  @RepeatedTest(20)
  void ofManyRunsAtOnceOneWins() throws Exception {
    Path x = folder.resolve("x.mtx");
    List<String> lost = Collections.synchronizedList(new ArrayList<>());
    List<Thread> threads = new ArrayList<>();
    for (int k = 0; k < 16; k++) {
      String mine = "run " + k;
      threads.add(
          new Thread(
              () -> {
                try (Outputs outputs = new Outputs(false)) {
                  outputs.add(x, file -> Files.writeString(file, mine));
                  outputs.commit();
                } catch (OutputException e) {
                  lost.add(mine);
                }
              }));
    }
    threads.forEach(Thread::start);
    for (Thread t : threads) {
      t.join();
    }
    assertThat(lost).hasSize(15);
    assertThat(Files.readString(x)).startsWith("run ").isNotIn(lost);
  }

  @Test
  void leaveToOverwriteReplaces() throws IOException {
    Path x = Files.writeString(folder.resolve("x.mtx"), "old");
    try (Outputs outputs = new Outputs(true)) {
      outputs.add(x, file -> Files.writeString(file, "new"));
      outputs.commit();
    }
    assertThat(x).hasContent("new");
    assertThat(names()).containsExactly("x.mtx");
  }

  @Test
  void aSolveWhoseOutputCannotBeWrittenStillPrintsItsSummary() throws IOException {
    SparkSession spark = CliRun.session();
    try {
      // Legal, but too long with any prefix.
      Path out = folder.resolve("x".repeat(250) + ".mtx");
      Path report = folder.resolve("r.json");
      CliRun run = CliRun.of("solve", "--matrix", "gen:cells2d8", "--out", out, "--report", report);
      assertThat(run.code()).isEqualTo(ExitCode.FAILED);
      assertThat(run.errors()).hasSize(1);
      assertThat(run.errors().get(0)).contains(out + " cannot be written: File name too long");
      assertThat(run.out()).contains("98 x 64", "64 of 64");
      assertThat(names()).containsExactly("r.json");
      assertThat(Files.readString(report)).contains("\"write\"", "cannot be written");
    } finally {
      spark.stop();
    }
  }
}
