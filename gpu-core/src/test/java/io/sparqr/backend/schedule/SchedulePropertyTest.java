/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class SchedulePropertyTest {

  @Test
  void everyInvariantHoldsForRandomTreesShapesAndStaircases() {
    int iterations = Integer.getInteger("test.iters", 300);
    for (long seed = Long.getLong("test.seed", 1); seed <= iterations; seed++) {
      var random = new RandomStages(seed, 1 + (int) (seed % 7), 2 + (int) (seed % 11));
      var schedule = SparseScheduler.schedule(random.stage, random.options, 1);
      new ScheduleChecker("seed " + seed, random).check(schedule);
      var drops = new RandomStages(seed, 1 + (int) (seed % 7), 2 + (int) (seed % 11)).withDrops();
      schedule = SparseScheduler.schedule(drops.stage, drops.options, 1);
      new ScheduleChecker("seed " + seed + " with drops", drops).check(schedule);
    }
  }

  @Test
  void theListsDoNotDependOnThreadsOrOnTheRangeTheyAreWrittenIn() {
    for (long seed = 1; seed <= 20; seed++) {
      var random = new RandomStages(seed, 12, 9);
      var one = SparseScheduler.schedule(random.stage, random.options, 1);
      var four = SparseScheduler.schedule(random.stage, random.options, 4);
      byte[] whole = bytes(one, 0, one.rounds());
      assertThat(bytes(four, 0, four.rounds())).as("seed %d", seed).isEqualTo(whole);
      for (int r = 0; r < one.rounds(); r++) {
        int from = (int) one.roundStart(r) * TaskLayout.TASK_BYTES;
        int to = (int) one.roundStart(r + 1) * TaskLayout.TASK_BYTES;
        assertThat(bytes(four, r, r + 1))
            .as("seed %d, round %d", seed, r)
            .isEqualTo(Arrays.copyOfRange(whole, from, to));
      }
    }
  }

  private static byte[] bytes(StageSchedule s, int from, int to) {
    long tasks = s.roundStart(to) - s.roundStart(from);
    byte[] bytes = new byte[(int) tasks * TaskLayout.TASK_BYTES];
    Arrays.fill(bytes, (byte) 0x5a);
    s.write(from, to, ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN));
    return bytes;
  }
}
