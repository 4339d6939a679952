/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

import io.sparqr.symbolic.TileFlops;
import io.sparqr.threads.Parallel;

/**
 * The sparse scheduler (SQR section 3.3): unrolls the state machine of every front of a stage and
 * merges their rounds into one list per round. Works in passes over (round, active front) pairs:
 * times, the cuts of each round's Apply tasks, counts, and - on demand - the records. The last two
 * are the same pass with another sink ({@link TaskEmitter}).
 *
 * <p>Cost: O(operations of all fronts + tasks that assemble and pack fronts; Apply tasks count per
 * operation); memory 4 bytes for each int of an operation.
 */
public final class SparseScheduler {

  private SparseScheduler() {}

  /** Schedules a stage. The result does not depend on the number of threads. */
  public static StageSchedule schedule(StageFronts stage, SchedulerOptions options, int threads) {
    var times = new FrontTimes(stage);
    var slots = new VtSlots(stage);
    var tasks = new TaskEmitter(stage, options, times, slots);
    var needs = new FrontCounts(stage);
    int rounds = times.rounds;
    long[] kindStart = new long[rounds * TaskLayout.KINDS + 1];
    double[] flops = new double[rounds];
    Parallel.loop(
        rounds,
        16,
        threads,
        (from, to, t) -> {
          for (int r = from; r < to; r++) {
            flops[r] = cutRound(stage, times, r, tasks);
            countRound(times, r, tasks, needs, kindStart);
          }
        });
    for (int k = 1; k < kindStart.length; k++) {
      kindStart[k] += kindStart[k - 1];
    }
    needs.finish();
    double sum = 0;
    for (double f : flops) {
      sum += f;
    }
    return new StageSchedule(stage, times, tasks, needs, kindStart, slots, sum);
  }

  /** Cuts the round's Apply tasks; returns the round's flops. */
  private static double cutRound(StageFronts stage, FrontTimes times, int r, TaskEmitter tasks) {
    double flops = 0;
    long applyTiles = 0;
    for (int e = times.activeStart[r]; e < times.activeStart[r + 1]; e++) {
      int f = times.active[e];
      FrontSchedule s = bucketRound(stage, times, r, f);
      if (s == null) {
        boolean small = stage.rounds[f] == null && r == times.start[f];
        flops += small ? TileFlops.small(stage.fm[f], stage.fn[f], stage.rhs) : 0;
        continue;
      }
      int local = r - times.start[f];
      for (int op = s.opStart(local); op < s.opStart(local + 1); op = s.next(op)) {
        applyTiles += s.columnTiles - s.applyFrom(op);
        flops += flops(s, op);
      }
    }
    tasks.cut(r, applyTiles);
    return flops;
  }

  /** Counts the round's tasks by kind in kindStart[r KINDS + k + 1] and by front in needs. */
  private static void countRound(
      FrontTimes times, int r, TaskEmitter tasks, FrontCounts needs, long[] kindStart) {
    var counter = new TaskCounter(needs);
    for (int e = times.activeStart[r]; e < times.activeStart[r + 1]; e++) {
      tasks.emit(r, times.active[e], counter);
      counter.end();
    }
    System.arraycopy(counter.kinds(), 0, kindStart, r * TaskLayout.KINDS + 1, TaskLayout.KINDS);
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
}
