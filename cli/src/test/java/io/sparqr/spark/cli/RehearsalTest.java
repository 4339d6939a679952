/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.Sampled;
import io.sparqr.spark.OwnJvm;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What bin/sparqr runs after a build for its archive of classes. */
@Tag("once")
class RehearsalTest {

  /** The private folder of native code is each user's, and stays. */
  @Sampled(oneIn = 3)
  @Test
  void leavesNoFolderBehind(@TempDir Path folder) throws Exception {
    Path temporary = Files.createDirectory(folder.resolve("temporary"));
    List<String> options =
        List.of("-XX:TieredStopAtLevel=1", "-Xmx1g", "-Djava.io.tmpdir=" + temporary);
    OwnJvm.run(folder, Duration.ofMinutes(2), options, Rehearsal.class);
    try (var left = Files.list(temporary)) {
      assertThat(left.map(p -> p.getFileName().toString()))
          .as("in the temporary folder")
          .noneMatch(name -> name.startsWith("sparqr-rehearsal") || name.startsWith("spark-"));
    }
  }
}
