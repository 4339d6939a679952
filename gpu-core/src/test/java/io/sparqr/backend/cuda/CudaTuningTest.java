/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.backend.tuning.TuningOutcome;
import io.sparqr.backend.tuning.TuningSearch;
import io.sparqr.backend.tuning.Workload;
import io.sparqr.symbolic.TileBundles;
import io.sparqr.symbolic.Tuning;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The bench and a short search on a device; what it finds is not asserted. */
@Tag("gpu")
class CudaTuningTest {

  private static final CudaTuningBench.Sizes SMALL =
      new CudaTuningBench.Sizes(
          new int[] {3000, 96}, 512, new int[] {8, 320, 160}, 32, 10, new int[] {4096, 256});

  @Test
  void everyWorkloadIsMeasuredWithAnyTuning() {
    Tuning t = Tuning.constants();
    try (var bench = new CudaTuningBench(sessions(), 0, 2, SMALL)) {
      for (Workload w : Workload.values()) {
        for (Tuning tuning :
            new Tuning[] {
              t,
              t.with(new TileBundles(2, 8, 5, 3)).withChunk(1 << 16),
              t.withPipelining(false).withApply(2, 2),
              t.withSmallFronts(32_768, 128),
              t
            }) {
          assertThat(bench.seconds(w, tuning)).as("%s, %s", w, tuning).isPositive();
        }
      }
    }
  }

  @Test
  void aSearchOfThreeSecondsEnds() {
    var provider = TestDevice.provider();
    assertThat(provider.key(0).orElseThrow().kernels()).hasSize(16);
    try (var bench = provider.bench(0, 2).orElseThrow()) {
      TuningOutcome found = new TuningSearch(bench, System::nanoTime, 3).run();
      System.out.println(provider.key(0).orElseThrow() + "\n" + found.toText());
      assertThat(found.toText()).contains("Gflop/s by bundle height");
    }
  }

  private static DeviceSessions sessions() {
    return new DeviceSessions(TestDevice.driver(), 0);
  }
}
