/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.sparqr.spark.device.Backends;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TuneCommandTest {

  @TempDir private Path folder;

  @Test
  void withoutADeviceThereIsOneErrorAndNoFile() throws IOException {
    assumeTrue(Backends.cudaObstacle().isPresent(), "there is a device: CudaTuneTest");
    CliRun run = CliRun.of("tune", "--seconds", "2", "--out", folder.resolve("tuning.json"));
    assertThat(run.code()).isEqualTo(ExitCode.FAILED);
    assertThat(run.out()).isEmpty();
    assertThat(run.err().lines())
        .containsExactly("sparqr: CUDA is required: " + Backends.cudaObstacle().orElseThrow());
    try (Stream<Path> there = Files.list(folder)) {
      assertThat(there).isEmpty();
    }
  }

  @Test
  void aWrongCommandLineIsRefusedBeforeAnyMeasurement() throws IOException {
    Path file = folder.resolve("tuning.json");
    Path full = Files.createDirectory(folder.resolve("full"));
    for (List<Object> wrong :
        List.<List<Object>>of(
            List.of("--seconds", "0", "--out", file),
            List.of("--seconds", "NaN", "--out", file),
            List.of("--seconds", "1e9", "--out", file),
            List.of("--seconds", "long", "--out", file),
            List.of("--device", "-1", "--out", file),
            List.of("--out", full),
            List.of("--out", folder.resolve("missing").resolve("tuning.json")),
            List.of("--size", "3"))) {
      var args = new ArrayList<Object>(List.of("tune"));
      args.addAll(wrong);
      CliRun run = CliRun.of(args.toArray());
      assertThat(run.code()).as("%s", wrong).isEqualTo(ExitCode.USAGE);
      assertThat(run.errors()).as("%s", wrong).hasSize(1);
    }
    assertThat(file).doesNotExist();
  }
}
