/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.Sampled;
import io.sparqr.numeric.Tolerances;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A real driver with a heap on either side of the limit: the problem is refused beforehand, or
 * solved.
 */
@Timeout(value = 330, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("numbers")
@Sampled
class DriverHeapIT {

  private static final int WORKERS = 400_000;
  private static final int FIRMS = 40_000;

  /** Margin above the limit: the rest of the driver's heap varies from run to run. */
  private static final long MARGIN = 8 << 20;

  @TempDir Path folder;

  @Sampled(oneIn = 3)
  @Test
  void theLineIsWhereTheErrorSays() throws Exception {
    long small = 110L << 20;
    String[] refused = run(small);
    assertThat(refused[0]).as(String.join(" ", refused)).isEqualTo("refused");
    long need = Long.parseLong(refused[1]);
    long have = Long.parseLong(refused[2]);
    assertThat(have).isBetween(1L, need - 1);
    // 90% of the heap count
    long enough = small + (need - have) * 10 / 9 + MARGIN;
    assertThat(String.join(" ", refused))
        .contains("440,000 columns")
        .contains("needs about %.1f MB".formatted(need / 1e6))
        .contains("%.1f MB are free".formatted(have / 1e6))
        .contains("spark.driver.memory");
    String[] solved = run(enough);
    assertThat(solved[0]).as("heap %d: %s", enough, String.join(" ", solved)).isEqualTo("solved");
    assertThat(Double.parseDouble(solved[2])).isLessThan(10 * Tolerances.REORDERED);
  }

  /** Many distinct rows of few columns: the driver has the graph, a few MB, instead of them. */
  @Sampled(oneIn = 3)
  @Test
  void manyCellsOfFewColumnsTakeLittleOfTheDriver() throws Exception {
    String[] said =
        OwnJvm.run(
                folder,
                Duration.ofSeconds(200),
                List.of("-Xmx256m", "-XX:+UseSerialGC"),
                DriverCells.class,
                "analyze",
                "1500000",
                "1000",
                "60",
                "50")
            .stream()
            .filter(l -> l.startsWith("live "))
            .findFirst()
            .orElseThrow()
            .split(" ");
    long patterns = Long.parseLong(said[1]);
    long live = Long.parseLong(said[2]);
    assertThat(patterns).isGreaterThan(1_000_000);
    // 28 bytes each, were they here
    assertThat(live).as("beside distinct rows: %,d", patterns).isLessThan(14 * patterns);
  }

  private String[] run(long heap) throws IOException, InterruptedException {
    List<String> lines =
        OwnJvm.run(
            folder,
            Duration.ofSeconds(150),
            List.of("-Xmx" + heap, "-XX:+UseG1GC"),
            DriverHeap.class,
            "" + WORKERS,
            "" + FIRMS,
            "5");
    return lines.stream()
        .filter(l -> l.startsWith("refused ") || l.startsWith("solved "))
        .findFirst()
        .orElseThrow(() -> new AssertionError("heap " + heap + ":\n" + String.join("\n", lines)))
        .split(" ");
  }
}
