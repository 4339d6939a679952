/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.Contents;
import io.sparqr.backend.reference.TaskListExecutor;
import io.sparqr.backend.schedule.SchedulerOptions;
import io.sparqr.backend.staged.layout.StageBuilder;
import io.sparqr.backend.staged.layout.StageProgram;
import io.sparqr.numeric.DeviceCases;
import io.sparqr.numeric.FrontReflectors;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.assembly.RowsByFront;
import java.util.BitSet;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Q is the same, however much of it is copied at once. */
class ReflectorFetchTest {

  @Test
  void groupsAndThreadsChangeNothing() {
    SubtreeProblem p = DeviceCases.whole("gen:cells2d25");
    var rows = new RowsByFront(p);
    var options = SchedulerOptions.defaults().withSmallFronts(0, 0);
    StageProgram program =
        new StageBuilder(p.analysis(), rows, options, 1, false, true).build(p.fronts(), List.of());
    var all = new BitSet();
    all.set(0, p.fronts().length);
    var some = new BitSet();
    some.set(1);
    some.set(p.fronts().length - 1);
    try (var executor = new TaskListExecutor(options)) {
      executor.execute(
          program, new StageValues(rows, p.fronts(), List.of(), null), -1, (f, r) -> {});
      var large = new ReflectorFetch(executor, program, 1);
      FrontReflectors[] expected = large.run(all);
      assertThat(expected).doesNotContainNull().hasSizeGreaterThan(10);
      for (long group : new long[] {1, 10_000, 60_000}) {
        var fetch = new ReflectorFetch(executor, program, 3, group);
        Contents.requireSame(fetch.run(all), expected, "groups of " + group);
        assertThat(fetch.doubles()).isEqualTo(large.doubles());
      }
      var fetch = new ReflectorFetch(executor, program, 1, 1);
      FrontReflectors[] two = fetch.run(some);
      for (int f = 0; f < two.length; f++) {
        if (some.get(f)) {
          Contents.requireSame(two[f], expected[f], "front " + f);
        } else {
          assertThat(two[f]).isNull();
        }
      }
      assertThat(fetch.doubles()).isLessThan(large.doubles());

      // nothing of the front between two wanted ones, however large a group may be
      var gap = (BitSet) all.clone();
      gap.clear(2);
      var around = new ReflectorFetch(executor, program, 1);
      assertThat(around.run(gap)[2]).isNull();
      assertThat(around.doubles())
          .isLessThanOrEqualTo(large.doubles() - program.descriptor(2).doubles());
    }
  }
}
