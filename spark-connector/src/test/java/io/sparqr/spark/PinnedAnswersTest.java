/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
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
    List<String> lines =
        OwnJvm.run(
            folder,
            Duration.ofMinutes(5),
            List.of("-Xmx1g", "-Dsparqr.blas=java", "-Djava.io.tmpdir=" + folder),
            PinnedAnswers.class);
    return lines.stream().filter(l -> l.startsWith(MARK)).map(l -> l.substring(8)).toList();
  }
}
