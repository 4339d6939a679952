/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda.transfer;

import io.sparqr.backend.schedule.StageSchedule;
import io.sparqr.backend.staged.layout.RowGroups;
import io.sparqr.backend.staged.layout.RowGroups.Group;
import io.sparqr.backend.staged.layout.StageProgram;
import java.util.Arrays;
import java.util.List;

/**
 * The ends of a stage's launches, and the groups of rows of R downloaded together: a launch ends
 * with the round that completes a group, so that its rows are downloaded while later launches run.
 * The first two launches are short, so that the device starts while most lists are on their way.
 *
 * @param groups in order of completion
 * @param ends last round of each launch, ascending; the last one is the stage's last round; empty
 *     if there are no rounds
 */
public record LaunchPlan(List<Group> groups, int[] ends) {

  /** Minimum tasks of a launch before it may end for a group of rows. */
  private static final int LAUNCH_TASKS = 8192;

  /** Tasks up to the ends of the first launches, in a stage of several times as many. */
  private static final int[] FIRST_TASKS = {LAUNCH_TASKS, 8 * LAUNCH_TASKS};

  /** The plan of a stage. */
  public static LaunchPlan of(StageProgram program) {
    List<Group> groups = RowGroups.of(program);
    return new LaunchPlan(groups, ends(program.schedule(), groups));
  }

  /** A launch ends with the round that completes a group, but not before it has a minimum size. */
  private static int[] ends(StageSchedule schedule, List<Group> groups) {
    int[] ends = new int[FIRST_TASKS.length + groups.size() + 1];
    int n = 0;
    long from = 0;
    for (int tasks : FIRST_TASKS) {
      if (schedule.tasks() >= 4L * tasks) {
        int round = n == 0 ? 0 : ends[n - 1] + 1;
        while (schedule.roundStart(round + 1) < tasks) {
          round++;
        }
        ends[n++] = round;
        from = schedule.roundStart(round + 1);
      }
    }
    for (Group g : groups) {
      long to = schedule.roundStart(g.ready() + 1);
      if (to - from >= LAUNCH_TASKS) {
        ends[n++] = g.ready();
        from = to;
      }
    }
    int last = schedule.rounds() - 1;
    if (last >= 0 && (n == 0 || ends[n - 1] < last)) {
      ends[n++] = last;
    }
    return Arrays.copyOf(ends, n);
  }

  /** The number of the launch that completes a group's rows. */
  public int launchOf(Group group) {
    int at = Arrays.binarySearch(ends, group.ready());
    return at < 0 ? -at - 1 : at;
  }
}
