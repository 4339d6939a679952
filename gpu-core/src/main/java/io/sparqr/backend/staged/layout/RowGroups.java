/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged.layout;

import io.sparqr.backend.schedule.FrontDescriptor;
import java.util.ArrayList;
import java.util.List;

/** Which packed rows of a stage leave it together, and when they are complete. */
public final class RowGroups {

  /** Bytes that leave together. */
  private static final int BYTES = 8 << 20;

  private RowGroups() {}

  /**
   * Rows that leave together: those of whole fronts, or a part of those of a large one.
   *
   * @param from the first front
   * @param to after the last front
   * @param ready the round after which they are complete; of a part that is not the last one:
   *     unless dead columns are dropped at the front's end
   * @param begin their first double in the output buffer
   * @param end after their last
   */
  public record Group(int from, int to, int ready, long begin, long end) {}

  /**
   * All rows of a stage: contiguous fronts with at most so many bytes in total, a larger front in
   * parts, since its first rows are complete long before the last ones. In order of completion.
   * O(fronts + parts).
   */
  public static List<Group> of(StageProgram program) {
    return of(program, BYTES);
  }

  /** The same with another number of bytes, a multiple of 8. */
  public static List<Group> of(StageProgram program, int bytes) {
    List<Group> groups = new ArrayList<>();
    int from = 0;
    while (from < program.fronts()) {
      int to = from;
      int ready = 0;
      do {
        ready = Math.max(ready, program.schedule().lastRound(to));
        to++;
      } while (to < program.fronts()
          && 8 * (program.outStart(to + 1) - program.outStart(from)) <= bytes);
      long begin = program.outStart(from);
      long end = program.outStart(to);
      if (8 * (end - begin) > bytes) {
        addParts(groups, program, from, bytes / 8);
      } else if (end > begin) {
        groups.add(new Group(from, to, inStage(program, ready), begin, end));
      }
      from = to;
    }
    groups.sort((a, b) -> Integer.compare(a.ready, b.ready));
    return groups;
  }

  private static void addParts(List<Group> groups, StageProgram program, int f, int doubles) {
    long start = program.outStart(f);
    long end = program.outStart(f + 1);
    for (long begin = start; begin < end; begin += doubles) {
      long to = Math.min(end, begin + doubles);
      // The last part tells that the front has ended, after dead columns have been dropped.
      int ready = to == end ? program.schedule().lastRound(f) : ready(program, f, to - start);
      groups.add(new Group(f, f + 1, inStage(program, ready), begin, to));
    }
  }

  /** The round after which the first doubles of a front's slice are complete. */
  private static int ready(StageProgram program, int f, long doubles) {
    FrontDescriptor d = program.descriptor(f);
    int low = 0;
    int high = Math.min(d.fm(), d.fp());
    // the least number of rows that has them
    while (low < high) {
      int mid = (low + high) >>> 1;
      if (d.packedValues(mid) < doubles) {
        low = mid + 1;
      } else {
        high = mid;
      }
    }
    return low == 0 || d.packedValues(low) < doubles
        ? program.schedule().lastRound(f)
        : program.schedule().rowRound(f, low - 1);
  }

  private static int inStage(StageProgram program, int round) {
    return Math.min(round, program.schedule().rounds() - 1);
  }
}
