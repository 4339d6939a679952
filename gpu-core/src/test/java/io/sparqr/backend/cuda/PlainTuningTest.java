/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.backend.cuda.driver.CudaDriver;
import io.sparqr.backend.cuda.driver.DriverVersion;
import io.sparqr.backend.cuda.driver.LiveResources;
import io.sparqr.backend.reference.PlainCalls;
import io.sparqr.backend.schedule.SchedulerOptions;
import io.sparqr.backend.staged.executor.RoundExecutor;
import io.sparqr.backend.tuning.Workload;
import io.sparqr.symbolic.Tuning;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The bench's dense fronts on the plain executor behind the driver's interface. */
class PlainTuningTest {

  private static final CudaTuningBench.Sizes TINY =
      new CudaTuningBench.Sizes(
          new int[] {300, 33}, 70, new int[] {2, 80, 50}, 8, 4, new int[] {9000, 9});

  private long before;

  @BeforeEach
  void count() {
    before = LiveResources.total();
  }

  @AfterEach
  void nothingIsLeft() {
    assertThat(LiveResources.total()).as("resources left").isEqualTo(before);
  }

  private static DeviceSessions sessions() {
    return PlainDenseQrTest.sessions(new PlainCalls(1, true).calls());
  }

  private static CudaTuningBench bench() {
    return new CudaTuningBench(sessions(), 0, 2, TINY);
  }

  @Test
  void denseFrontsRunWithMoreTuningsThanAreKept() {
    try (CudaTuningBench bench = bench()) {
      for (Workload w : List.of(Workload.TALL, Workload.SQUARE)) {
        for (int tasks : new int[] {4, 5, 6, 7, 4, 7}) {
          Tuning tuning = Tuning.constants().withApply(tasks, 8);
          assertThat(bench.seconds(w, tuning)).as("%s", w).isNotNegative();
        }
      }
      for (Workload w : Workload.values()) {
        assertThat(bench.flops(w)).as("%s", w).isPositive();
        assertThat(bench.describe(w)).startsWith(w.words());
      }
    }
  }

  /** What a factorizer's executor cuts by is what the task's options say. */
  @Test
  void aFactorizerTakesTheTuningOfItsTask() {
    Tuning tuning = Tuning.constants().withApply(3, 2).withSmallFronts(100, 20);
    try (var device = new CudaSubtreeFactorizer(sessions(), 0, null);
        RoundExecutor tuned = device.executor(1, tuning);
        RoundExecutor plain = device.executor(1, Tuning.constants())) {
      int multiprocessors = plain.schedulerOptions().applyTasks() / Tuning.constants().applyTasks();
      assertThat(tuned.schedulerOptions()).isEqualTo(SchedulerOptions.of(tuning, multiprocessors));
      assertThat(plain.schedulerOptions()).isNotEqualTo(tuned.schedulerOptions());
    }
  }

  @Test
  void theDriverHasAVersion() {
    assertThat(DriverVersion.of(new CudaDriver(new PlainCalls(1, true).calls())))
        .matches("\\d+\\.\\d.*");
  }
}
