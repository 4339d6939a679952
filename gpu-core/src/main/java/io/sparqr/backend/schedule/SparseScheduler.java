/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

import io.sparqr.symbolic.TileFlops;
import io.sparqr.threads.Parallel;

/**
 * The sparse scheduler (SQR section 3.3): unrolls the state machine of every front of a stage and
 * merges their rounds into one list a round. Works in three passes over (round, active front)
 * pairs, never over tasks: times, counts, and - on demand - the records.
 *
 * <p>Cost: O(operations of all fronts); memory the same, 4 bytes for each int of an operation.
 */
public final class SparseScheduler {

  private SparseScheduler() {}

  /** Schedules a stage. The result does not depend on the number of threads. */
  public static StageSchedule schedule(StageFronts stage, SchedulerOptions options, int threads) {
    var times = new FrontTimes(stage);
    int rounds = times.rounds;
    long[] kindStart = new long[rounds * TaskLayout.KINDS + 1];
    int[] chunk = new int[rounds];
    double[] flops = new double[rounds];
    var needs = new FrontCounts(stage);
    Parallel.loop(
        rounds,
        16,
        threads,
        (from, to, t) -> {
          for (int r = from; r < to; r++) {
            flops[r] = countRound(stage, options, times, r, kindStart, chunk, needs);
          }
        });
    for (int k = 1; k < kindStart.length; k++) {
      kindStart[k] += kindStart[k - 1];
    }
    for (int f = 0; f < stage.fronts; f++) {
      needs.fill(f, StageSchedule.ownFilling(stage, options, times, f));
      if (stage.parent[f] >= 0) {
        needs.fill(stage.parent[f], StageSchedule.parentFilling(stage, options, f));
      }
    }
    needs.finish();
    int[] slotStart = new int[stage.fronts + 1];
    for (int f = 0; f < stage.fronts; f++) {
      int length = stage.rounds[f] == null ? 0 : stage.rounds[f].rounds();
      slotStart[f + 1] = Math.addExact(slotStart[f], length);
    }
    int[] slotBase = new int[slotStart[stage.fronts]];
    int vtSlots =
        stage.keepQ
            ? ownSlots(stage, slotStart, slotBase)
            : assignSlots(stage, slotStart, slotBase);
    double sum = 0;
    for (double f : flops) {
      sum += f;
    }
    return new StageSchedule(
        stage, options, times, needs, kindStart, chunk, slotStart, slotBase, vtSlots, sum);
  }

  /** Counts of the round's kinds to kindStart[r KINDS + k + 1]; returns the round's flops. */
  private static double countRound(
      StageFronts stage,
      SchedulerOptions options,
      FrontTimes times,
      int r,
      long[] kindStart,
      int[] chunk,
      FrontCounts needs) {
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
      int chain = 0;
      int bulk = 0;
      for (int op = s.opStart(local); op < s.opStart(local + 1); op = s.next(op)) {
        int tiles = s.columnTiles - s.applyFrom(op);
        int near = tiles > 0 ? 1 : 0;
        chain += near + (s.kind(op) == TaskLayout.APPLY ? 0 : 1);
        bulk += (tiles + chunk[r] - 1) / chunk[r] - near;
        counts[TaskLayout.APPLY_NEAR] += near;
      }
      counts[TaskLayout.APPLY] += bulk;
      needs.set(f, local, chain, bulk);
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
   * Numbers VT slots: three sets a front, by local round modulo 3, because a slot written in round
   * r is read in round r + 1, and the Factorize tasks of round r + 2 may run before that is over. A
   * front starts after everything below it is done, so it may use the slots of its descendants;
   * fronts of which neither is above the other have slots of their own.
   */
  private static int assignSlots(StageFronts stage, int[] slotStart, int[] slotBase) {
    int n = stage.fronts;
    int[][] most = new int[n][];
    int[] below = new int[n + 1];
    for (int f = 0; f < n; f++) {
      FrontSchedule s = stage.rounds[f];
      int own = 0;
      if (s != null) {
        most[f] = new int[3];
        for (int local = 0; local < s.rounds(); local++) {
          most[f][local % 3] = Math.max(most[f][local % 3], s.writes(local));
        }
        own = Math.addExact(Math.addExact(most[f][0], most[f][1]), most[f][2]);
      }
      below[f] = Math.max(below[f], own);
      int p = stage.parent[f] < 0 ? n : stage.parent[f];
      below[p] = Math.addExact(below[p], below[f]);
    }
    // From the roots down: a front's children share its range.
    int[] base = new int[n];
    int[] taken = new int[n + 1];
    for (int f = n - 1; f >= 0; f--) {
      int p = stage.parent[f] < 0 ? n : stage.parent[f];
      base[f] = (p == n ? 0 : base[p]) + taken[p];
      taken[p] += below[f];
      FrontSchedule s = stage.rounds[f];
      for (int local = 0; s != null && local < s.rounds(); local++) {
        int set = local % 3;
        slotBase[slotStart[f] + local] =
            base[f] + (set > 0 ? most[f][0] : 0) + (set > 1 ? most[f][1] : 0);
      }
    }
    return below[n];
  }
}
