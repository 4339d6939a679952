/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.backend.schedule.StageSchedule;
import io.sparqr.backend.staged.layout.RowGroups;
import io.sparqr.backend.staged.layout.StageProgram;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LaunchPlanTest {

  /**
   * One launch if there is little work; otherwise several, so that rows reach the host early; with
   * much work short ones first, so that the device starts early.
   */
  @ParameterizedTest
  @CsvSource({"gen:cells2d20, 1, 1", "gen:cells3d20, 2, 2", "gen:nug12:rand, 2, 3"})
  void everyRowComesDownAfterTheLaunchThatCompletesIt(String problem, int groups, int launches) {
    StageProgram program = FirstStage.of(problem);
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
