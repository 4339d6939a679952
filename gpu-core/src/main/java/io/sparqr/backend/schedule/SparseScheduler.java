/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

import io.sparqr.symbolic.TileFlops;
import io.sparqr.threads.Parallel;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

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
    var slots = new VtSlots[1];
    var needs = new FrontCounts[1];
    var made = new FrontTimes[1];
    // independent of each other, the longest first
    Parallel.loop(
        3,
        1,
        threads,
        (from, to, t) -> {
          switch (from) {
            case 0 -> made[0] = new FrontTimes(stage);
            case 1 -> slots[0] = new VtSlots(stage);
            default -> needs[0] = new FrontCounts(stage);
          }
        });
    FrontTimes times = made[0];
    var tasks = new TaskEmitter(stage, options, times, slots[0]);
    var pieces = new RoundPieces(times);
    // Whole numbers below 2^63, so that their sums do not depend on the order.
    var flops = new LongAdder();
    var applyTiles = new AtomicLongArray(times.rounds);
    pieces.forEach(threads, (r, from, to) -> cut(stage, times, r, from, to, applyTiles, flops));
    for (int r = 0; r < times.rounds; r++) {
      tasks.cut(r, applyTiles.get(r));
    }
    long[] kindStart = pieces.count(tasks, needs[0], threads);
    return new StageSchedule(stage, times, tasks, needs[0], kindStart, slots[0], flops.sum());
  }

  /** Adds the tiles of the Apply tasks of some of a round's fronts, and their flops. */
  private static void cut(
      StageFronts stage,
      FrontTimes times,
      int r,
      int from,
      int to,
      AtomicLongArray applyTiles,
      LongAdder sum) {
    double flops = 0;
    long tiles = 0;
    for (int e = from; e < to; e++) {
      int f = times.active[e];
      FrontSchedule s = bucketRound(stage, times, r, f);
      if (s == null) {
        boolean small = stage.rounds[f] == null && r == times.start[f];
        flops += small ? TileFlops.small(stage.fm[f], stage.fn[f], stage.rhs) : 0;
        continue;
      }
      int local = r - times.start[f];
      for (int op = s.opStart(local); op < s.opStart(local + 1); op = s.next(op)) {
        tiles += s.columnTiles - s.applyFrom(op);
        flops += flops(s, op, s.kind(op) != TaskLayout.APPLY, s.columnTiles - s.applyFrom(op));
      }
    }
    applyTiles.addAndGet(r, tiles);
    sum.add((long) flops);
  }

  /** The front's bucket schedule if round r is one of its rounds, else null. */
  private static @Nullable FrontSchedule bucketRound(
      StageFronts stage, FrontTimes times, int r, int f) {
    FrontSchedule s = stage.rounds[f];
    int local = r - times.start[f];
    return s != null && local >= 0 && local < s.rounds() ? s : null;
  }

  /**
   * Factorize: 2 (32 b) 32^2 and as much again for T; Apply: 32^3 (4 b + 2) a column tile.
   *
   * @param factorizes whether the task that factorizes counts
   * @param columns column tiles of the Apply tasks that count
   */
  static double flops(FrontSchedule s, int op, boolean factorizes, int columns) {
    double cube = (double) TaskLayout.TILE * TaskLayout.TILE * TaskLayout.TILE;
    double flops = 0;
    int applied = s.size(op);
    if (s.kind(op) != TaskLayout.APPLY) {
      applied = 1 + Integer.bitCount(s.applied(op));
    }
    if (factorizes) {
      flops += cube * 3 * (s.size(op) - s.bundleFrom(op));
      columns += s.kind(op) == TaskLayout.APPLY_FACTORIZE ? 1 : 0;
    }
    return flops + cube * (4.0 * applied + 2) * columns;
  }
}
