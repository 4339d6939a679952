/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.solve;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.spark.solve.SolvePasses.Task;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** x stays on its executor as long as it can, and every task finds what it needs. */
class SolvePassesTest {

  private static final long SEED = Long.getLong("test.seed", 20261128L);

  /** Tasks 4 (level 2) over 3 and 2 (level 1) over 1 and 0. */
  private static List<Task> five(String... place) {
    return List.of(
        new Task(0, new int[] {2, 4}, 8, place[0]),
        new Task(0, new int[] {3}, 8, place[1]),
        new Task(1, new int[] {4}, 8, place[2]),
        new Task(1, new int[] {4}, 8, place[3]),
        new Task(2, new int[0], 8, place[4]));
  }

  private static List<String> text(List<List<int[]>> passes) {
    return passes.stream().map(p -> p.stream().map(Arrays::toString).toList().toString()).toList();
  }

  @Test
  void whatFollowsOnOneExecutorIsOnePass() {
    List<Task> tasks = five("a", "b", "a", "b", "a");
    assertThat(text(SolvePasses.of(tasks, 2))).containsExactly("[[3, 1], [2, 0]]");
    assertThat(text(SolvePasses.of(tasks, 3))).containsExactly("[[4, 2, 0]]", "[[3, 1]]");
    assertThat(text(SolvePasses.of(tasks, 1))).containsExactly("[[1], [0]]");
    assertThat(SolvePasses.of(tasks, 0)).isEmpty();
  }

  @Test
  void whereXChangesExecutorsAPassEnds() {
    assertThat(text(SolvePasses.of(five("b", "b", "a", "b", "a"), 2)))
        .containsExactly("[[3, 1], [2]]", "[[0]]");
    assertThat(text(SolvePasses.of(five("", "", "", "", ""), 3)))
        .as("nobody knows where R is")
        .containsExactly("[[4]]", "[[3], [2]]", "[[1], [0]]");
  }

  @Test
  void whatNeedsTwoGroupsWaitsForBoth() {
    List<Task> tasks =
        List.of(
            new Task(0, new int[] {1, 2}, 8, "a"),
            new Task(1, new int[0], 8, "a"),
            new Task(1, new int[0], 8, "a"));
    assertThat(text(SolvePasses.of(tasks, 2))).containsExactly("[[2], [1]]", "[[0]]");
  }

  @Test
  void largePartsOfRStayApart() {
    long half = SolvePasses.MOST_BYTES / 2;
    List<Task> tasks =
        List.of(
            new Task(0, new int[] {3}, half + 1, "a"),
            new Task(0, new int[] {3}, half, "a"),
            new Task(0, new int[] {3}, half, "a"),
            new Task(1, new int[0], 4 * half, "a"));
    assertThat(text(SolvePasses.of(tasks, 2)))
        .as("one of any size, and another that fits")
        .containsExactly("[[3, 2, 1]]", "[[0]]");
  }

  /** Random trees of tasks: each once, after what it needs, in no more passes than levels. */
  @Test
  void everyTaskFindsWhatItNeeds() {
    Random random = new Random(SEED);
    for (int round = 0; round < 500; round++) {
      int levels = 1 + random.nextInt(5);
      int executors = 1 + random.nextInt(4);
      var tasks = new ArrayList<Task>();
      int[] level =
          IntStream.range(0, 1 + random.nextInt(20))
              .map(i -> random.nextInt(levels))
              .sorted()
              .toArray();
      for (int t = 0; t < level.length; t++) {
        int own = level[t];
        int[] needs =
            IntStream.range(0, level.length)
                .filter(a -> level[a] > own && random.nextInt(4) == 0)
                .toArray();
        tasks.add(new Task(own, needs, random.nextInt(1 << 24), "" + random.nextInt(executors)));
      }
      int from = 1 + random.nextInt(levels);
      boolean[] known = new boolean[level.length];
      for (int t = 0; t < level.length; t++) {
        known[t] = level[t] >= from;
      }
      List<List<int[]>> passes = SolvePasses.of(tasks, from);
      assertThat(passes.size()).as("seed %d, round %d", SEED, round).isLessThanOrEqualTo(from);
      for (List<int[]> pass : passes) {
        boolean[] before = known.clone();
        for (int[] group : pass) {
          boolean[] here = before.clone();
          for (int t : group) {
            assertThat(known[t]).as("task %d once", t).isFalse();
            assertThat(tasks.get(t).place()).isEqualTo(tasks.get(group[0]).place());
            for (int above : tasks.get(t).needs()) {
              assertThat(here[above]).as("task %d for %d", above, t).isTrue();
            }
            here[t] = true;
            known[t] = true;
          }
        }
      }
      assertThat(known).doesNotContain(false);
    }
  }
}
