/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.partition;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.Sampling;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Stages cover the fronts, keep to the budget, and are as long as the running sum allows. */
class StagePlanPropertyTest {

  private static final long SEED = Long.getLong("test.seed", 7L);

  @Test
  void stagesAreTheLongestThatTheBudgetAllows() {
    for (int it : Sampling.numbers("test.iters", 2000).toArray()) {
      Random random = new Random(SEED + it);
      String name = "seed " + SEED + ", iteration " + it;
      int nf = 1 + random.nextInt(30);
      int[] parent = new int[nf];
      long[] front = new long[nf];
      long[] block = new long[nf];
      for (int f = 0; f < nf; f++) {
        parent[f] = f == nf - 1 ? -1 : f + 1 + random.nextInt(Math.min(4, nf - 1 - f));
        front[f] = 1 + random.nextInt(100);
        block[f] = random.nextInt(60);
      }
      List<Integer> mine = new ArrayList<>();
      List<Integer> inputs = new ArrayList<>();
      for (int f = 0; f < nf; f++) {
        if (random.nextInt(4) > 0 || f == nf - 1) {
          mine.add(f);
        }
      }
      for (int f = 0; f < nf; f++) {
        if (!mine.contains(f) && parent[f] >= 0 && mine.contains(parent[f])) {
          inputs.add(f);
        }
      }
      int[] fronts = mine.stream().mapToInt(Integer::intValue).toArray();
      long budget = 20 + random.nextInt(400);
      StagePlan.Outcome outcome =
          StagePlan.plan(
              fronts,
              f -> parent[f],
              inputs.stream().mapToInt(Integer::intValue).toArray(),
              f -> front[f],
              f -> block[f],
              budget);
      if (outcome instanceof StagePlan.Infeasible none) {
        assertThat(need(none.front(), List.of(), parent, front, block, mine, inputs))
            .as(name)
            .isEqualTo(none.requiredBytes())
            .isGreaterThan(budget);
        assertThat(none.availableBytes()).isEqualTo(budget);
        assertThat(none.asException()).hasMessageContaining("front " + none.front());
        continue;
      }
      StagePlan plan = ((StagePlan.Feasible) outcome).plan();
      List<Integer> covered = new ArrayList<>();
      for (int s = 0; s < plan.stages(); s++) {
        List<Integer> stage = Arrays.stream(plan.stage(s)).boxed().toList();
        assertThat(stage).as(name).isNotEmpty();
        long bytes = 0;
        for (int f : stage) {
          bytes += need(f, stage, parent, front, block, mine, inputs);
        }
        assertThat(plan.stageBytes()[s]).as(name).isEqualTo(bytes).isLessThanOrEqualTo(budget);
        covered.addAll(stage);
        if (s + 1 < plan.stages()) {
          int next = plan.stage(s + 1)[0];
          long more = need(next, stage, parent, front, block, mine, inputs);
          assertThat(bytes + more).as(name).isGreaterThan(budget);
        }
      }
      assertThat(covered).as(name).isEqualTo(mine);
      assertThat(plan.peakBytes()).as(name).isLessThanOrEqualTo(budget);
    }
  }

  /** Bytes of a front and of its children's blocks, children in the same stage left out. */
  private static long need(
      int f,
      List<Integer> stage,
      int[] parent,
      long[] front,
      long[] block,
      List<Integer> mine,
      List<Integer> inputs) {
    long bytes = front[f];
    for (int c = 0; c < f; c++) {
      boolean there = mine.contains(c) || inputs.contains(c);
      if (parent[c] == f && there && !stage.contains(c)) {
        bytes += block[c];
      }
    }
    return bytes;
  }

  @Test
  void hugeSizesDoNotWrap() {
    StagePlan.Outcome outcome =
        StagePlan.plan(
            new int[] {0, 1},
            f -> f == 0 ? 1 : -1,
            new int[0],
            f -> Long.MAX_VALUE / 2 + 1,
            f -> Long.MAX_VALUE / 2,
            Long.MAX_VALUE - 1);
    assertThat(outcome).isInstanceOf(StagePlan.Infeasible.class);
    assertThat(((StagePlan.Infeasible) outcome).front()).isEqualTo(1);
  }
}
