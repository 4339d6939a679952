/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.solve;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * In which stages of Spark R x = c is solved down the tree. A task needs x of tasks above, so each
 * level would be a stage, tens of milliseconds each, whose tasks read for one or two. But x has to
 * travel only where R of both is not on the same executor: what follows from x that is known or
 * that the same executor finds in the same stage is solved there, one task after the other. So
 * there are as many stages as x changes executors on a way down, and never more than levels.
 */
final class SolvePasses {

  /**
   * Bytes of R of one level that one group reads: a thread takes less time for them than a stage.
   * Beyond that tasks of a level stay apart, because their executor may have several threads.
   */
  static final long MOST_BYTES = 32L << 20;

  private SolvePasses() {}

  /**
   * A task of the tree, for a solve.
   *
   * @param needs the tasks above whose x it takes
   * @param bytes of its R
   * @param place the executor that has its R; empty: nobody knows
   */
  record Task(int level, int[] needs, long bytes, String place) {}

  /** Tasks of one group, and the bytes of their R by level. */
  private static final class Group {
    private final String place;
    private final List<Integer> tasks = new ArrayList<>();
    private final Map<Integer, Long> bytes = new HashMap<>();

    Group(String place) {
      this.place = place;
    }

    boolean takes(Task task) {
      long there = bytes.getOrDefault(task.level, 0L);
      return !place.isEmpty()
          && place.equals(task.place)
          && (there == 0 || there + task.bytes <= MOST_BYTES);
    }

    void add(int id, Task task) {
      tasks.add(id);
      bytes.merge(task.level, Math.max(1, task.bytes), Long::sum);
    }
  }

  /**
   * Groups. O(tasks x passes + needs).
   *
   * @param tasks by id, which ascends with the level
   * @param from x is known for tasks of this level and those above
   * @return for each pass its groups, of each the tasks, those above first
   */
  static List<List<int[]>> of(List<Task> tasks, int from) {
    boolean[] known = new boolean[tasks.size()];
    for (int t = 0; t < known.length; t++) {
      known[t] = tasks.get(t).level >= from;
    }
    int[] left =
        IntStream.range(0, known.length)
            .map(t -> known.length - 1 - t)
            .filter(t -> !known[t])
            .toArray();
    List<List<int[]>> passes = new ArrayList<>();
    while (left.length > 0) {
      var groups = new ArrayList<Group>();
      int[] groupOf = new int[known.length];
      Arrays.fill(groupOf, -1);
      left =
          Arrays.stream(left)
              .filter(t -> !joins(t, tasks.get(t), known, groupOf, groups))
              .toArray();
      for (Group group : groups) {
        group.tasks.forEach(t -> known[t] = true);
      }
      passes.add(
          groups.stream()
              .map(group -> group.tasks.stream().mapToInt(Integer::intValue).toArray())
              .toList());
    }
    return passes;
  }

  /** Puts a task into the pass, if what it needs is known or in one group that takes it. */
  private static boolean joins(
      int id, Task task, boolean[] known, int[] groupOf, List<Group> groups) {
    int in = -1;
    for (int above : task.needs) {
      if (known[above]) {
        continue;
      }
      int g = groupOf[above];
      if (g < 0 || (in >= 0 && in != g)) {
        return false;
      }
      in = g;
    }
    if (in >= 0 && !groups.get(in).takes(task)) {
      return false;
    }
    if (in < 0) {
      in = groups.size();
      groups.add(new Group(task.place));
    }
    groups.get(in).add(id, task);
    groupOf[id] = in;
    return true;
  }
}
