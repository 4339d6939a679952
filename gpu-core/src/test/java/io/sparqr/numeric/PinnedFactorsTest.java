/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The bits of R, Q'b and Q, by the CPU backend and by the plain executor of task lists, are those
 * of the day when {@code pinned-factors.txt} was written. So a change that only moves code can be
 * seen to change nothing else. If you change the arithmetic or an order on purpose, copy the test's
 * output there.
 */
class PinnedFactorsTest {

  static final String MARK = "pinned: ";

  @TempDir Path folder;

  @Test
  void everyBitIsWhatItWas() throws IOException, InterruptedException {
    List<String> now = factors();
    List<String> then;
    try (InputStream in = getClass().getResourceAsStream("/pinned-factors.txt")) {
      assertThat(in).as("pinned-factors.txt").isNotNull();
      then = new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
    }
    assertThat(now).as(String.join("\n", now)).isEqualTo(then);
  }

  /** Of a JVM without native BLAS and without vectors: the same bits on every machine. */
  private List<String> factors() throws IOException, InterruptedException {
    Path printed = folder.resolve("out");
    Process p =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx1g",
                "-cp",
                System.getProperty("java.class.path"),
                PinnedFactors.class.getName())
            .redirectErrorStream(true)
            .redirectOutput(printed.toFile())
            .start();
    try {
      assertThat(p.waitFor(5, TimeUnit.MINUTES)).as("it ends").isTrue();
    } finally {
      p.destroyForcibly();
    }
    List<String> lines = Files.readAllLines(printed);
    assertThat(p.exitValue()).as(String.join("\n", lines)).isZero();
    return lines.stream()
        .filter(l -> l.startsWith(MARK))
        .map(l -> l.substring(MARK.length()))
        .toList();
  }
}
