/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.backend.cpu.CpuSubtreeFactorizer;
import io.sparqr.backend.reference.TaskListExecutor;
import io.sparqr.backend.schedule.SchedulerOptions;
import io.sparqr.backend.staged.StagedFactorization;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The progress that a task reports adds up to the flops of its fronts, with every backend. */
class WorkListenerTest {

  private static final SubtreeProblem PROBLEM = DeviceCases.whole("gen:cells3d12");

  private static void check(List<Double> heard, int least) {
    double flops = PROBLEM.analysis().flops();
    assertThat(heard).allMatch(f -> f > 0 && f <= flops * (1 + Tolerances.REORDERED));
    assertThat(heard).hasSizeGreaterThanOrEqualTo(least);
    assertThat(heard.stream().mapToDouble(f -> f).sum())
        .isCloseTo(flops, within(Tolerances.REORDERED * flops));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void onTheHostFrontByFrontAndLargeOnesPanelByPanel(int threads) {
    List<Double> heard = Collections.synchronizedList(new ArrayList<>());
    try (var cpu = new CpuSubtreeFactorizer()) {
      cpu.factor(PROBLEM, new FactorOptions(-1, threads, 0).heardBy(heard::add));
    }
    check(heard, PROBLEM.fronts().length + 10);
  }

  @Test
  void onADeviceStageByStage() {
    List<Double> heard = new ArrayList<>();
    try (var host = new CpuSubtreeFactorizer();
        var executor = new TaskListExecutor(SchedulerOptions.defaults())) {
      var staged = new StagedFactorization("plain", executor, host);
      SubtreeFactor made =
          staged.factor(PROBLEM, new FactorOptions(-1, 1, 4L << 20).heardBy(heard::add));
      assertThat(made.summary().stages()).isGreaterThan(1);
      assertThat(heard).hasSize((int) made.summary().stages());
    }
    check(heard, 2);
  }
}
