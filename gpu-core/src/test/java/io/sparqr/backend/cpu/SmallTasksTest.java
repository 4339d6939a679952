/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.numeric.DeviceCases;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.FrontFactor;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.TestMatrices;
import io.sparqr.numeric.dense.BlasLoader;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A task takes no more threads than its work pays for, and gives the same bits with all. */
class SmallTasksTest {

  private static final int THREADS = 16;

  private static SubtreeState state(SubtreeProblem problem) {
    return new SubtreeState(problem, new FactorOptions(-1, THREADS, 0), GramRule.DEFAULT);
  }

  /** With the overhead of its fronts. */
  private static double work(SubtreeProblem problem) {
    return problem.analysis().flops() + 4e3 * problem.fronts().length;
  }

  private static int paying(SubtreeProblem problem) {
    return TreeRun.payingThreads(state(problem), THREADS, TreeRun.THREAD_WORK);
  }

  @Test
  void asManyThreadsAsTheWorkPaysFor() {
    SubtreeProblem tiny = DeviceCases.whole("gen:cells2d6");
    assertThat(work(tiny)).isLessThan(1e6);
    assertThat(paying(tiny)).isEqualTo(1);
    SubtreeProblem small = DeviceCases.whole("gen:cells2d30");
    assertThat(work(small)).isBetween(2e6, 15e6);
    assertThat(paying(small)).isEqualTo((int) (work(small) / 1e6));
    assertThat(TreeRun.payingThreads(state(small), 2, TreeRun.THREAD_WORK)).isEqualTo(2);
    assertThat(paying(DeviceCases.whole("gen:cells3d12"))).isEqualTo(THREADS);
    assertThat(TreeRun.payingThreads(state(tiny), THREADS, 0)).isEqualTo(THREADS);
  }

  @ParameterizedTest
  @ValueSource(strings = {"gen:cells2d6", "gen:cells2d30"})
  void theCallerAloneOrSeveralWithTheSameBits(String specification) {
    SubtreeProblem problem = DeviceCases.whole(specification);
    Set<Thread> heard = ConcurrentHashMap.newKeySet();
    var options =
        new FactorOptions(-1, THREADS, 0).heardBy(part -> heard.add(Thread.currentThread()));
    try (var paying = new CpuSubtreeFactorizer();
        var all = new CpuSubtreeFactorizer(BlasLoader.kernels(), GramRule.DEFAULT, 0)) {
      SubtreeFactor few = paying.factor(problem, options);
      if (paying(problem) == 1) {
        assertThat(heard).containsExactly(Thread.currentThread());
      }
      assertThat(heard).hasSizeLessThanOrEqualTo(paying(problem));
      List<FrontFactor> expected = all.factor(problem, options).fronts();
      for (int f = 0; f < expected.size(); f++) {
        assertThat(TestMatrices.rowsOfR(few.fronts().get(f)))
            .as("front %d", f)
            .isEqualTo(TestMatrices.rowsOfR(expected.get(f)));
      }
    }
  }
}
