/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.Contents;
import io.sparqr.backend.reference.TaskListExecutor;
import io.sparqr.backend.schedule.SchedulerOptions;
import io.sparqr.backend.schedule.TaskLayout;
import io.sparqr.backend.staged.layout.StageBuilder;
import io.sparqr.backend.staged.layout.StageProgram;
import io.sparqr.numeric.ContributionBlock;
import io.sparqr.numeric.DeviceCases;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.assembly.RowsByFront;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Rows are the same, however many of them are copied at once. */
class RowFetchTest {

  @Test
  void piecesAndThreadsChangeNothing() {
    SubtreeProblem p = DeviceCases.whole("gen:cells3d12");
    var rows = new RowsByFront(p);
    var options = SchedulerOptions.defaults();
    int[] fronts = p.fronts();
    StageProgram program =
        new StageBuilder(p.analysis(), rows, options, 1, false, false).build(fronts, List.of());
    List<Integer> inner =
        IntStream.range(0, fronts.length)
            .filter(f -> program.descriptor(f).cm() > 0)
            .boxed()
            .toList();
    assertThat(inner).anyMatch(f -> program.descriptor(f).cm() > 2 * TaskLayout.TILE);
    try (var executor = new TaskListExecutor(options)) {
      executor.execute(program, new StageValues(rows, fronts, List.of(), null), -1, (f, r) -> {});
      var large = new RowFetch(executor, program, 1);
      List<ContributionBlock> expected = large.blocks(fronts, inner);
      for (int doubles : new int[] {1, 3_000, 40_000}) {
        var fetch = new RowFetch(executor, program, 3, doubles);
        Contents.requireSame(fetch.blocks(fronts, inner), expected, "pieces of " + doubles);
        assertThat(fetch.doubles()).isEqualTo(large.doubles());
      }
      for (ContributionBlock b : expected) {
        assertThat(Arrays.stream(b.values()).filter(v -> v != 0).count()).isPositive();
      }
      assertThat(new RowFetch(executor, program, 1).blocks(fronts, List.of())).isEmpty();
    }
  }
}
