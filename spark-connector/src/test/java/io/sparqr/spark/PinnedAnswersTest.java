/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * R's bits, the solutions' and the report's keys are those of the day when {@code
 * pinned-answers.txt} was written. So a change that only moves code can be seen to change nothing
 * else. If you change the arithmetic, an order or the report on purpose, copy the test's output
 * there.
 */
class PinnedAnswersTest {

  static final String MARK = "pinned: ";

  @TempDir Path folder;

  @Test
  void answersAndReportAreWhatTheyWere() throws IOException, InterruptedException {
    List<String> now = answers();
    List<String> then;
    try (InputStream in = getClass().getResourceAsStream("/pinned-answers.txt")) {
      assertThat(in).as("pinned-answers.txt").isNotNull();
      then = new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
    }
    assertThat(now).as(String.join("\n", now)).isEqualTo(then);
  }

  /** Of a JVM without native BLAS and without vectors: the same bits on every machine. */
  private List<String> answers() throws IOException, InterruptedException {
    Path printed = folder.resolve("out");
    var command = new ArrayList<String>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    for (String flag : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
      if (flag.startsWith("--add-opens") || flag.startsWith("-XX:+Ignore")) {
        command.add(flag);
      }
    }
    command.add("-Xmx1g");
    command.add("-Dsparqr.blas=java");
    command.add("-Djava.io.tmpdir=" + folder);
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add(PinnedAnswers.class.getName());
    Process p =
        new ProcessBuilder(command)
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
    return lines.stream().filter(l -> l.startsWith(MARK)).map(l -> l.substring(8)).toList();
  }
}
