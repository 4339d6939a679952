/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.sparqr.backend.cpu.CpuSubtreeFactorizer;
import io.sparqr.backend.reference.TaskListExecutor;
import io.sparqr.backend.schedule.SchedulerOptions;
import io.sparqr.backend.schedule.StageSchedule;
import io.sparqr.backend.staged.ForwardingExecutor;
import io.sparqr.backend.staged.StagedFactorization;
import io.sparqr.backend.staged.executor.RoundExecutor;
import io.sparqr.backend.staged.layout.RowGroups;
import io.sparqr.backend.staged.layout.StageProgram;
import io.sparqr.numeric.DeviceCases;
import io.sparqr.numeric.FactorOptions;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LaunchPlanTest {

  /** The first stage of a problem, as a device with much memory would get it. */
  static StageProgram firstStage(String problem) {
    return Capture.firstStage(problem);
  }

  /** Keeps the first stage's program and stops there. */
  private static final class Capture extends ForwardingExecutor {

    @SuppressWarnings("serial") // never written
    private static final class Captured extends RuntimeException {
      private final StageProgram program;

      Captured(StageProgram program) {
        this.program = program;
      }
    }

    static StageProgram firstStage(String problem) {
      try (var cpu = new CpuSubtreeFactorizer()) {
        var driver = new StagedFactorization("none", new Capture(), cpu);
        var options = new FactorOptions(1e-10, 2, 0);
        return catchThrowableOfType(
                Captured.class, () -> driver.factor(DeviceCases.whole(problem), options))
            .program;
      }
    }

    private final TaskListExecutor plain = new TaskListExecutor(SchedulerOptions.defaults());

    @Override
    protected RoundExecutor inner() {
      return plain;
    }

    @Override
    public long availableBytes() {
      return 1L << 40;
    }

    @Override
    public Result execute(StageProgram program, StageInput input, double tolerance, RowSink sink) {
      throw new Captured(program);
    }
  }

  /**
   * One launch if there is little work; otherwise several, so that rows reach the host early; with
   * much work short ones first, so that the device starts early.
   */
  @ParameterizedTest
  @CsvSource({"gen:cells2d20, 1, 1", "gen:cells3d20, 2, 2", "gen:nug12:rand, 2, 3"})
  void everyRowComesDownAfterTheLaunchThatCompletesIt(String problem, int groups, int launches) {
    StageProgram program = Capture.firstStage(problem);
    LaunchPlan plan = LaunchPlan.of(program);
    assertThat(plan.groups()).hasSizeGreaterThanOrEqualTo(groups);
    assertThat(plan.ends()).hasSizeGreaterThanOrEqualTo(launches);
    int last = program.schedule().rounds() - 1;
    assertThat(plan.ends()).isSorted().doesNotHaveDuplicates().endsWith(last);
    StageSchedule schedule = program.schedule();
    if (schedule.tasks() >= 1 << 15) {
      // the device starts with the first 2^13 tasks
      assertThat(schedule.roundStart(plan.ends()[0])).isLessThan(1 << 13);
      assertThat(schedule.roundStart(plan.ends()[0] + 1)).isGreaterThanOrEqualTo(1 << 13);
    }
    long rows = 0;
    int before = 0;
    for (RowGroups.Group g : plan.groups()) {
      assertThat(g.ready()).isGreaterThanOrEqualTo(before);
      before = g.ready();
      rows += g.end() - g.begin();
      int launch = plan.launchOf(g);
      assertThat(plan.ends()[launch]).isGreaterThanOrEqualTo(g.ready());
      assertThat(launch == 0 ? -1 : plan.ends()[launch - 1]).isLessThan(g.ready());
    }
    assertThat(rows).isEqualTo(program.outDoubles());
  }
}
