/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.Sampled;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The heap does not grow with R: a JVM keeps more of R than its heap is large. */
@Timeout(value = 330, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("numbers")
@Sampled
class MuchKeptIT {

  private static final long HEAP = 256L << 20;

  @TempDir Path folder;

  @Sampled(oneIn = 3)
  @Test
  void inMemoryOutsideTheHeap() throws Exception {
    String[] kept = run("-XX:MaxDirectMemorySize=2g", "-Dsparqr.factor.memory=1000000000");
    assertThat(Long.parseLong(kept[1])).isGreaterThan(HEAP);
    assertThat(Long.parseLong(kept[2])).isZero();
  }

  /** Others have used up what the JVM gives to direct buffers. */
  @Sampled(oneIn = 3)
  @Test
  void inFilesBeyondWhatTheJvmGives() throws Exception {
    String[] kept = run("-XX:MaxDirectMemorySize=64m", "-Dsparqr.factor.memory=1000000000");
    assertThat(Long.parseLong(kept[1])).isLessThan(64 << 20);
    assertThat(Long.parseLong(kept[2])).isGreaterThan(HEAP - (64 << 20));
  }

  private String[] run(String... options) throws IOException, InterruptedException {
    var all = new ArrayList<>(List.of(options));
    all.addAll(List.of("-Xmx" + HEAP, "-XX:+UseG1GC"));
    List<String> lines = OwnJvm.run(folder, Duration.ofSeconds(150), all, MuchKept.class);
    String[] kept =
        lines.stream()
            .filter(l -> l.startsWith("kept "))
            .findFirst()
            .orElseThrow(() -> new AssertionError(String.join("\n", lines)))
            .split(" ");
    assertThat(kept[3]).as("bytes left").isEqualTo("0");
    assertThat(kept[4]).as("the same bits").isEqualTo("true");
    return kept;
  }
}
