/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The choice between CPU and device, on what both took for 150 matrices. Needs no device. */
class CrossoverTest {

  private static final Path BENCHMARKS = Path.of("..", "benchmarks");

  /** Flops a byte, Gflop, seconds of the CPU and of the device. */
  private static final Pattern LINE =
      Pattern.compile(
          "choice \\| .+ \\| ([\\d.]+) \\| ([\\d.]+) \\| ([\\d.]+) \\| ([\\d.]+) \\|.*");

  /** A choice is wrong that takes a fifth more than the other, and a millisecond. */
  private static final double SHARE = 0.2;

  private static final double SECONDS = 1e-3;

  private static List<MatchResult> lines() throws IOException {
    Path log = BENCHMARKS.resolve("history/2026-11-30-h200-table5.txt");
    List<MatchResult> found = new ArrayList<>();
    for (String line : Files.readAllLines(log)) {
      Matcher m = LINE.matcher(line);
      if (m.matches()) {
        found.add(m.toMatchResult());
      }
    }
    return found;
  }

  private static long wrong(double intensity, double flops) throws IOException {
    return lines().stream()
        .filter(
            m -> {
              double cpu = Double.parseDouble(m.group(3));
              double device = Double.parseDouble(m.group(4));
              boolean onDevice =
                  Double.parseDouble(m.group(1)) >= intensity
                      && 1e9 * Double.parseDouble(m.group(2)) >= flops;
              double lost = (onDevice ? device : cpu) - Math.min(cpu, device);
              return lost >= Math.max(SHARE * Math.min(cpu, device), SECONDS);
            })
        .count();
  }

  @Test
  void withAnOpenDeviceTheRuleIsRightOnNineteenOfTwenty() throws IOException {
    assertThat(lines()).hasSize(150);
    long wrong = wrong(Crossover.REFERENCE, Crossover.OPEN_FLOPS);
    assertThat(20 * wrong).isLessThanOrEqualTo(150);
    // Thresholds further up are worse; the log has little of size below five flops a byte.
    for (double intensity : new double[] {10, 20}) {
      assertThat(wrong(intensity, Crossover.OPEN_FLOPS)).isGreaterThan(wrong);
    }
    for (double flops : new double[] {1e6, 3e7, 1e8, Crossover.FLOPS}) {
      assertThat(wrong(Crossover.REFERENCE, flops)).isGreaterThan(wrong);
    }
  }

  @Test
  void theScriptThatJudgesOtherLogsHasTheSameNumbers() throws IOException {
    String script = Files.readString(BENCHMARKS.resolve("papers/choice_regret.py"));
    assertThat(number(script, "INTENSITY")).isEqualTo(Crossover.REFERENCE);
    assertThat(number(script, "FLOPS")).isEqualTo(Crossover.FLOPS);
    assertThat(number(script, "OPEN_FLOPS")).isEqualTo(Crossover.OPEN_FLOPS);
    assertThat(number(script, "REGRET")).isEqualTo(SHARE);
    assertThat(number(script, "SECONDS")).isEqualTo(SECONDS);
  }

  private static double number(String script, String name) {
    Matcher m = Pattern.compile("(?m)^" + name + " = (\\S+)$").matcher(script);
    assertThat(m.find()).as(name).isTrue();
    return Double.parseDouble(m.group(1));
  }
}
