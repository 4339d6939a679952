/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.reference;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.backend.cpu.CpuSubtreeFactorizer;
import io.sparqr.backend.schedule.FrontDescriptor;
import io.sparqr.backend.schedule.SchedulerOptions;
import io.sparqr.backend.schedule.StageSchedule;
import io.sparqr.backend.staged.StagedFactorization;
import io.sparqr.backend.staged.layout.StageProgram;
import io.sparqr.numeric.DeviceCases;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.FrontFactors;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeProblem;
import java.util.LinkedHashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** When a later stage takes the blocks of earlier ones. */
class LateBlocksTest {

  private static final SubtreeProblem PROBLEM = DeviceCases.whole("gen:cells3d12");
  private static final FactorOptions OPTIONS = new FactorOptions(1e-10, 2, 0);

  private final Set<StageProgram> programs = new LinkedHashSet<>();

  private SubtreeFactor factor(long bytes) {
    var executor = new TaskListExecutor[1];
    executor[0] =
        new TaskListExecutor(
            SchedulerOptions.defaults(),
            bytes,
            (round, tasks) -> {
              programs.add(executor[0].stage.program);
              return null;
            });
    try (var host = new CpuSubtreeFactorizer()) {
      return new StagedFactorization("plain", executor[0], host).factor(PROBLEM, OPTIONS);
    }
  }

  @Test
  void frontsThatGetNothingElseWaitForThemWithoutMakingOthersWait() {
    SubtreeFactor whole = factor(1L << 40);
    long bytes = whole.summary().peakDeviceBytes();
    assertThat(programs).hasSize(1);
    programs.clear();
    SubtreeFactor inStages = factor(bytes / 6);
    assertThat(programs).hasSizeGreaterThan(4);
    FrontFactors.requireSame(inStages.fronts(), whole.fronts());
    int late = 0;
    for (StageProgram p : programs) {
      late += late(p);
    }
    assertThat(late).as("fronts that begin later than they could").isPositive();
  }

  /** Fronts of a stage with blocks and without children that begin later than they could. */
  private static int late(StageProgram p) {
    StageSchedule s = p.schedule();
    boolean[] inner = new boolean[p.fronts()];
    boolean[] waits = new boolean[p.fronts()];
    for (int b = 0; b < p.blocks(); b++) {
      waits[p.descriptor(p.fronts() + b).parent()] = true;
    }
    int late = 0;
    for (int f = 0; f < p.fronts(); f++) {
      FrontDescriptor d = p.descriptor(f);
      if (d.parent() >= 0) {
        inner[d.parent()] = true;
        assertThat(s.firstRound(d.parent())).isGreaterThan(s.lastRound(f));
      }
      assertThat(s.lastRound(f)).isLessThan(s.rounds());
      if (waits[f] && !inner[f]) {
        int idle = (d.parent() < 0 ? s.rounds() : s.firstRound(d.parent())) - 1 - s.lastRound(f);
        int begun = s.firstRound(f) - 1;
        // an eighth of its idle time is left behind it, rounded up
        assertThat(idle).isEqualTo((idle + begun + 7) / 8);
        late += begun > 0 ? 1 : 0;
      }
    }
    return late;
  }
}
