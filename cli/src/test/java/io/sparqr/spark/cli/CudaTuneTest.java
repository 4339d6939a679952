/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sparqr.configuration.Keys;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A device is tuned for three seconds, and the next solve uses the file. */
@Tag("gpu")
class CudaTuneTest {

  @TempDir private Path folder;

  @AfterEach
  void forget() {
    System.clearProperty(Keys.TUNING_FILE.name());
  }

  @Test
  void theNextSolveUsesTheFile() throws IOException {
    Path file = folder.resolve("tuning.json");
    CliRun tune = CliRun.of("tune", "--seconds", "3", "--out", file);
    assertThat(tune.code()).as(tune.err()).isZero();
    assertThat(tune.out()).contains("Gflop/s by bundle height", "kept in " + file);

    System.setProperty(Keys.TUNING_FILE.name(), file.toString());
    JsonNode report = solve("tuned");
    assertThat(report.path("tuning").asText()).startsWith("file " + file + " of 20");
    assertThat(report.path("warnings")).isEmpty();
    // the same plan, the same bits
    Path first = folder.resolve("tuned.mtx");
    solve("again");
    assertThat(folder.resolve("again.mtx")).hasSameTextualContentAs(first);

    Files.writeString(
        file, Files.readString(file).replace("\"kernels\" : \"", "\"kernels\" : \"0"));
    JsonNode foreign = solve("foreign");
    assertThat(foreign.path("tuning").asText()).startsWith("constants: the tuning file " + file);
    assertThat(foreign.path("warnings")).hasSize(1);
    assertThat(foreign.path("warnings").get(0).asText()).contains(file.toString(), "it is for ");
  }

  private JsonNode solve(String name) throws IOException {
    Path report = folder.resolve(name + ".json");
    CliRun run =
        CliRun.of(
            "solve",
            "--matrix",
            "gen:cells2d60:rand",
            "--backend",
            "cuda",
            "--engine",
            "local",
            "--out",
            folder.resolve(name + ".mtx"),
            "--report",
            report);
    assertThat(run.code()).as(run.err()).isZero();
    return new ObjectMapper().readTree(report.toFile());
  }
}
