/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

import java.util.Arrays;

/**
 * The timetable of each front of a stage: the state machine of SQR section 3.3, unrolled. A front
 * assembles S (and blocks from outside) in round start - 1, is factored in rounds start .. start +
 * L - 1, and passes on each row tile in the round after its last change; the last one in round
 * start + L. It starts one round after the last rows of its children arrive: there is no barrier
 * between levels. A front whose children are all outside the stage starts when it has to. A small
 * front does all of that in round start, except for blocks from outside.
 */
final class FrontTimes {

  /** Rows per RESIDUAL task. */
  static final int RESIDUAL_ROWS = 1024;

  /** The part of a front's idle time that is spent before it. */
  private static final double DELAY = 7 / 8.0;

  /** size fronts; first round of factorization. */
  final int[] start;

  /** Number of rounds of the stage. */
  final int rounds;

  /** size rounds + 1; fronts active in round r: active[activeStart[r] .. activeStart[r+1]). */
  final int[] activeStart;

  /** Active fronts, those with the longest path to the root first. */
  final int[] active;

  /** size fronts + 1; residual slots of each front. */
  final int[] residualStart;

  /** size fronts + 1; input blocks of front f: block[blockStart[f] .. blockStart[f+1]). */
  final int[] blockStart;

  final int[] block;

  /** size fronts; rounds of factorization of each front. */
  private final int[] length;

  /** size fronts; rounds after the last one of factorization until the last rows leave. */
  private final int[] late;

  /** size fronts; rounds after that of the last rows, for the way of the block. */
  private final int[] tail;

  /** size fronts; the first round in which a front has tasks. */
  private final int[] first;

  FrontTimes(StageFronts s) {
    this(s, new int[s.fronts], new int[s.fronts]);
  }

  /**
   * A timetable of several devices ({@link FrontWays}).
   *
   * @param late size fronts; rounds between a front's last one of factorization and its last rows
   * @param tail size fronts; rounds of a front after the first that follows its factorization
   */
  FrontTimes(StageFronts s, int[] late, int[] tail) {
    int n = s.fronts;
    this.late = late;
    this.tail = tail;
    blockStart = new int[n + 1];
    block = new int[s.blocks];
    groupBlocks(s);
    start = new int[n];
    length = new int[n];
    first = new int[n];
    rounds = starts(s);
    residualStart = new int[n + 1];
    for (int f = 0; f < n; f++) {
      int rows = s.rhs == 0 ? 0 : s.fm[f] - s.tailRow(f);
      int slots = (rows + RESIDUAL_ROWS - 1) / RESIDUAL_ROWS;
      residualStart[f + 1] = residualStart[f] + (s.rounds[f] == null ? Math.min(slots, 1) : slots);
      residualStart[f + 1] += s.dropsRhs(f) ? 1 : 0;
    }
    activeStart = new int[rounds + 1];
    active = activeFronts(s);
  }

  /** The first round in which front f has tasks: those that assemble it. */
  int first(int f) {
    return first[f];
  }

  private void groupBlocks(StageFronts s) {
    for (int b = 0; b < s.blocks; b++) {
      blockStart[s.blockParent[b] + 1]++;
    }
    for (int f = 0; f < s.fronts; f++) {
      blockStart[f + 1] += blockStart[f];
    }
    int[] next = Arrays.copyOf(blockStart, s.fronts);
    for (int b = 0; b < s.blocks; b++) {
      block[next[s.blockParent[b]]++] = b;
    }
  }

  /** Fills {@code start}, {@code length} and {@code first}; returns the number of rounds. */
  private int starts(StageFronts s) {
    int end = 0;
    for (int f = 0; f < s.fronts; f++) {
      boolean tiled = s.rounds[f] != null;
      boolean assembled =
          blockStart[f + 1] > blockStart[f] || tiled && s.sStart[f + 1] > s.sStart[f];
      if (assembled) {
        start[f] = Math.max(start[f], 1);
      }
      length[f] = tiled ? s.rounds[f].rounds() : 0;
      first[f] = assembled ? start[f] - 1 : start[f];
      int last = start[f] + length[f] + tail[f];
      end = Math.max(end, last + 1);
      if (s.parent[f] >= 0) {
        start[s.parent[f]] = Math.max(start[s.parent[f]], last + 1);
      }
    }
    delay(s, end);
    return end;
  }

  /**
   * Lets fronts without children in the stage that get blocks from outside begin later, by {@link
   * #DELAY} of the rounds for which nobody would wait for them: the blocks are on their way while
   * the device is busy with other fronts.
   */
  private void delay(StageFronts s, int end) {
    boolean[] inner = new boolean[s.fronts];
    for (int f = 0; f < s.fronts; f++) {
      int parent = s.parent[f];
      if (parent >= 0) {
        inner[parent] = true;
      }
      if (!inner[f] && blockStart[f + 1] > blockStart[f]) {
        int latest = (parent < 0 ? end : start[parent]) - 1;
        int rounds = (int) (DELAY * (latest - end(f)));
        start[f] += rounds;
        first[f] += rounds;
      }
    }
  }

  private int[] activeFronts(StageFronts s) {
    for (int f = 0; f < s.fronts; f++) {
      for (int r = first[f]; r <= end(f); r++) {
        activeStart[r + 1]++;
      }
    }
    for (int r = 0; r < rounds; r++) {
      activeStart[r + 1] = Math.addExact(activeStart[r + 1], activeStart[r]);
    }
    int[] list = new int[activeStart[rounds]];
    int[] next = Arrays.copyOf(activeStart, rounds);
    for (int f : byHeight(s)) {
      for (int r = first[f]; r <= end(f); r++) {
        list[next[r]++] = f;
      }
    }
    return list;
  }

  /** The round in which the last rows of front f go to the output. */
  int rowsEnd(int f) {
    return start[f] + length[f] + late[f];
  }

  /** Whether the rows of front f leave later than {@link FrontSchedule#doneRound} has it. */
  boolean isLate(int f) {
    return late[f] > 0;
  }

  /** The last round in which front f has tasks. */
  private int end(int f) {
    return start[f] + length[f] + tail[f];
  }

  /** The fronts, those with the longest path to the root first: a counting sort. */
  private int[] byHeight(StageFronts s) {
    int[] height = new int[s.fronts];
    int most = 0;
    for (int f = s.fronts - 1; f >= 0; f--) {
      int above = s.parent[f] < 0 ? 0 : height[s.parent[f]];
      height[f] = Math.addExact(1 + length[f] + tail[f], above);
      most = Math.max(most, height[f]);
    }
    int[] next = new int[most + 2];
    for (int h : height) {
      next[most - h + 1]++;
    }
    for (int k = 0; k < most; k++) {
      next[k + 1] += next[k];
    }
    int[] order = new int[s.fronts];
    for (int f = 0; f < s.fronts; f++) {
      order[next[most - height[f]]++] = f;
    }
    return order;
  }

  /** First row tile that becomes final in local round {@code round} or later. */
  static int firstDone(FrontSchedule s, int round) {
    int lo = 0;
    int hi = s.pivotTiles;
    while (lo < hi) {
      int mid = (lo + hi) >>> 1;
      if (s.doneRound[mid] < round) {
        lo = mid + 1;
      } else {
        hi = mid;
      }
    }
    return lo;
  }
}
