/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import io.sparqr.backend.schedule.StageSchedule;
import io.sparqr.backend.staged.StageProgram;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Where the launches of a stage end, and which rows of R come down together: a launch ends with the
 * round that completes a group of rows, so that they come down while later launches run.
 *
 * @param groups in the order they get ready
 * @param ends last round of each launch, ascending; the last one is the stage's, none if it has no
 *     rounds
 */
record LaunchPlan(List<Group> groups, int[] ends) {

  /** Bytes of rows that come down together. */
  private static final int GROUP_BYTES = 8 << 20;

  /** Tasks from which on a launch may end for the sake of rows. */
  private static final int LAUNCH_TASKS = 8192;

  /**
   * Fronts [from, to).
   *
   * @param ready the round after which their rows are complete
   */
  record Group(int from, int to, int ready) {}

  /** The plan of a stage. */
  static LaunchPlan of(StageProgram program) {
    List<Group> groups = groups(program);
    return new LaunchPlan(groups, ends(program.schedule(), groups));
  }

  /** Contiguous fronts of about GROUP_BYTES of rows together; a front alone may have more. */
  private static List<Group> groups(StageProgram program) {
    List<Group> groups = new ArrayList<>();
    int from = 0;
    while (from < program.fronts()) {
      int to = from;
      int ready = 0;
      do {
        ready = Math.max(ready, program.schedule().lastRound(to));
        to++;
      } while (to < program.fronts()
          && 8 * (program.outStart(to + 1) - program.outStart(from)) <= GROUP_BYTES);
      if (program.outStart(to) > program.outStart(from)) {
        groups.add(new Group(from, to, Math.min(ready, program.schedule().rounds() - 1)));
      }
      from = to;
    }
    groups.sort((a, b) -> Integer.compare(a.ready, b.ready));
    return groups;
  }

  /** A launch ends with the round that completes a group, but not before it has some size. */
  private static int[] ends(StageSchedule schedule, List<Group> groups) {
    int[] ends = new int[groups.size() + 1];
    int n = 0;
    long from = 0;
    for (Group g : groups) {
      long to = schedule.roundStart(g.ready + 1);
      if (to - from >= LAUNCH_TASKS) {
        ends[n++] = g.ready;
        from = to;
      }
    }
    int last = schedule.rounds() - 1;
    if (last >= 0 && (n == 0 || ends[n - 1] < last)) {
      ends[n++] = last;
    }
    return Arrays.copyOf(ends, n);
  }

  /** The launch, by its number, after which a group's rows are there. */
  int launchOf(Group group) {
    int at = Arrays.binarySearch(ends, group.ready);
    return at < 0 ? -at - 1 : at;
  }
}
