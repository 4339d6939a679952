/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

import io.sparqr.symbolic.TileFlops;

/**
 * The sparse scheduler (SQR section 3.3): unrolls the state machine of every front of a stage and
 * merges their rounds into one list a round. Works in three passes over (round, active front)
 * pairs, never over tasks: times, counts, and - on demand - the records.
 *
 * <p>Cost: O(operations of all fronts); memory the same, 4 bytes for each int of an operation.
 */
final class SparseScheduler {

  private SparseScheduler() {}

  /** Schedules a stage. The result does not depend on the number of threads. */
  static StageSchedule schedule(StageFronts stage, SchedulerOptions options, int threads) {
    var times = new FrontTimes(stage);
    int rounds = times.rounds;
    long[] kindStart = new long[rounds * TaskLayout.KINDS + 1];
    int[] chunk = new int[rounds];
    double[] flops = new double[rounds];
    Parallel.loop(
        rounds,
        16,
        threads,
        (from, to, t) -> {
          for (int r = from; r < to; r++) {
            flops[r] = countRound(stage, options, times, r, kindStart, chunk);
          }
        });
    for (int k = 1; k < kindStart.length; k++) {
      kindStart[k] += kindStart[k - 1];
    }
    int[] slotStart = new int[stage.fronts + 1];
    for (int f = 0; f < stage.fronts; f++) {
      int length = stage.rounds[f] == null ? 0 : stage.rounds[f].rounds();
      slotStart[f + 1] = Math.addExact(slotStart[f], length);
    }
    int[] slotBase = new int[slotStart[stage.fronts]];
    int vtSlots =
        stage.keepQ
            ? ownSlots(stage, slotStart, slotBase)
            : assignSlots(stage, times, slotStart, slotBase);
    double sum = 0;
    for (double f : flops) {
      sum += f;
    }
    return new StageSchedule(
        stage, options, times, kindStart, chunk, slotStart, slotBase, vtSlots, sum);
  }

  /** Counts of the round's kinds to kindStart[r KINDS + k + 1]; returns the round's flops. */
  private static double countRound(
      StageFronts stage,
      SchedulerOptions options,
      FrontTimes times,
      int r,
      long[] kindStart,
      int[] chunk) {
    long[] counts = new long[TaskLayout.KINDS];
    double flops = 0;
    long applyTiles = 0;
    for (int e = times.activeStart[r]; e < times.activeStart[r + 1]; e++) {
      int f = times.active[e];
      StageSchedule.count(stage, options, times, r, f, counts);
      FrontSchedule s = bucketRound(stage, times, r, f);
      if (s == null) {
        boolean small = stage.rounds[f] == null && r == times.start[f];
        flops += small ? TileFlops.small(stage.fm[f], stage.fn[f], stage.rhs) : 0;
        continue;
      }
      int local = r - times.start[f];
      for (int op = s.opStart(local); op < s.opStart(local + 1); op = s.next(op)) {
        if (s.kind(op) != TaskLayout.APPLY) {
          counts[s.kind(op)]++;
        }
        applyTiles += s.columnTiles - s.applyFrom(op);
        flops += flops(s, op);
      }
    }
    long even = (applyTiles + options.applyTasks() - 1) / options.applyTasks();
    chunk[r] = (int) Math.max(1, Math.min(options.maxApplyTiles(), even));
    for (int e = times.activeStart[r]; e < times.activeStart[r + 1]; e++) {
      int f = times.active[e];
      FrontSchedule s = bucketRound(stage, times, r, f);
      if (s == null) {
        continue;
      }
      int local = r - times.start[f];
      for (int op = s.opStart(local); op < s.opStart(local + 1); op = s.next(op)) {
        int tiles = s.columnTiles - s.applyFrom(op);
        counts[TaskLayout.APPLY] += (tiles + chunk[r] - 1) / chunk[r];
      }
    }
    System.arraycopy(counts, 0, kindStart, r * TaskLayout.KINDS + 1, TaskLayout.KINDS);
    return flops;
  }

  /** The front's bucket schedule if round r is one of its rounds, else null. */
  private static FrontSchedule bucketRound(StageFronts stage, FrontTimes times, int r, int f) {
    FrontSchedule s = stage.rounds[f];
    int local = r - times.start[f];
    return s != null && local >= 0 && local < s.rounds() ? s : null;
  }

  /** Factorize: 2 (32 b) 32^2 and as much again for T; Apply: 32^3 (4 b + 2) a column tile. */
  private static double flops(FrontSchedule s, int op) {
    double cube = (double) TaskLayout.TILE * TaskLayout.TILE * TaskLayout.TILE;
    int columns = s.columnTiles - s.applyFrom(op);
    double flops = 0;
    int applied = s.size(op);
    if (s.kind(op) != TaskLayout.APPLY) {
      int size = s.size(op) - s.bundleFrom(op);
      flops += cube * 3 * size;
      applied = 1 + Integer.bitCount(s.applied(op));
      columns += s.kind(op) == TaskLayout.APPLY_FACTORIZE ? 1 : 0;
    }
    return flops + cube * (4.0 * applied + 2) * columns;
  }

  /** A slot for every bundle, front by front in the order of their rounds. */
  private static int ownSlots(StageFronts stage, int[] slotStart, int[] slotBase) {
    int used = 0;
    for (int f = 0; f < stage.fronts; f++) {
      for (int local = 0; local < slotStart[f + 1] - slotStart[f]; local++) {
        slotBase[slotStart[f] + local] = used;
        used = Math.addExact(used, stage.rounds[f].writes(local));
      }
    }
    return used;
  }

  /**
   * Numbers VT slots: those of even rounds first, then those of odd rounds, so a slot is written
   * again two rounds later at the earliest, when its Apply tasks are done.
   */
  private static int assignSlots(
      StageFronts stage, FrontTimes times, int[] slotStart, int[] slotBase) {
    int[] most = new int[2];
    for (int pass = 0; pass < 2; pass++) {
      int evenSlots = most[0];
      for (int r = 0; r < times.rounds; r++) {
        int used = pass == 1 && (r & 1) == 1 ? evenSlots : 0;
        int base = used;
        for (int e = times.activeStart[r]; e < times.activeStart[r + 1]; e++) {
          int f = times.active[e];
          FrontSchedule s = bucketRound(stage, times, r, f);
          if (s != null) {
            int local = r - times.start[f];
            slotBase[slotStart[f] + local] = used;
            used = Math.addExact(used, s.writes(local));
          }
        }
        if (pass == 0) {
          most[r & 1] = Math.max(most[r & 1], used - base);
        }
      }
    }
    return Math.addExact(most[0], most[1]);
  }
}
