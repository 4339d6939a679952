/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.reference;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.backend.cpu.CpuSubtreeFactorizer;
import io.sparqr.backend.schedule.SchedulerOptions;
import io.sparqr.backend.staged.StagedFactorization;
import io.sparqr.backend.staged.layout.RowGroups;
import io.sparqr.backend.staged.layout.StageProgram;
import io.sparqr.numeric.DeviceCases;
import io.sparqr.numeric.FactorOptions;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which rows leave a stage together, and when. */
class RowGroupsTest {

  private final Map<RowGroups.Group, double[]> copies = new HashMap<>();
  private final TaskListExecutor executor =
      new TaskListExecutor(SchedulerOptions.defaults(), 1L << 40, this::beforeRound);

  /** Copies what the last round has completed, as it is then. */
  private int[] beforeRound(int round, int tasks) {
    for (RowGroups.Group g : groups()) {
      if (g.ready() == round - 1) {
        copies.put(g, rows(g));
      }
    }
    return null;
  }

  private StageProgram program() {
    return executor.stage.program;
  }

  private List<RowGroups.Group> groups() {
    return RowGroups.of(program(), EarlyRows.BYTES);
  }

  private double[] rows(RowGroups.Group g) {
    return Arrays.copyOfRange(executor.stage.out, (int) g.begin(), (int) g.end());
  }

  @ParameterizedTest
  @ValueSource(strings = {"gen:cells3d8", "gen:nug6:rand", "gen:ch5-5-b3:rand"})
  void rowsThatAreReadyDoNotChangeAnyMore(String problem) {
    try (var host = new CpuSubtreeFactorizer()) {
      new StagedFactorization("plain", executor, host)
          .factor(DeviceCases.whole(problem), new FactorOptions(1e-10, 2, 0));
    }
    copies.forEach((g, early) -> assertThat(early).as("%s", g).isEqualTo(rows(g)));
    var groups = groups();
    assertThat(groups).isSortedAccordingTo(Comparator.comparingInt(RowGroups.Group::ready));
    long at = 0;
    for (RowGroups.Group g :
        groups.stream().sorted(Comparator.comparingLong(RowGroups.Group::begin)).toList()) {
      assertThat(g.begin()).isEqualTo(at);
      at = g.end();
    }
    assertThat(at).isEqualTo(program().outDoubles());
    // Of a front of several row tiles the first rows leave before the last.
    long early =
        groups.stream()
            .filter(g -> g.ready() < program().schedule().lastRound(g.to() - 1))
            .mapToLong(g -> g.end() - g.begin())
            .sum();
    assertThat(early).as("doubles that leave before their front ends").isGreaterThan(at / 8);
  }
}
