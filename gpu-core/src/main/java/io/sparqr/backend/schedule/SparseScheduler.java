/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

import io.sparqr.symbolic.TileFlops;
import io.sparqr.threads.Parallel;
import java.util.Arrays;
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

  /** Active fronts of a piece of work, and its rounds, at most. */
  private static final int ACTIVE = 2048;

  private static final int ROUNDS = 16;

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
    int[] piece = pieces(times);
    // Whole numbers below 2^63, so that their sums do not depend on the order.
    var flops = new LongAdder();
    var applyTiles = new AtomicLongArray(times.rounds);
    inPieces(
        times, piece, threads, (r, from, to) -> cut(stage, times, r, from, to, applyTiles, flops));
    for (int r = 0; r < times.rounds; r++) {
      tasks.cut(r, applyTiles.get(r));
    }
    var kinds = new AtomicLongArray(times.rounds * TaskLayout.KINDS);
    inPieces(
        times, piece, threads, (r, from, to) -> count(times, r, from, to, tasks, needs[0], kinds));
    long[] kindStart = new long[kinds.length() + 1];
    for (int k = 0; k < kinds.length(); k++) {
      kindStart[k + 1] = kindStart[k] + kinds.get(k);
    }
    needs[0].finish(threads);
    return new StageSchedule(stage, times, tasks, needs[0], kindStart, slots[0], flops.sum());
  }

  /**
   * Cuts the active fronts of all rounds into pieces of about the same work: the first rounds have
   * thousands of small fronts each, the last ones a single large one.
   *
   * @return first places in {@link FrontTimes#active}, and the end
   */
  private static int[] pieces(FrontTimes times) {
    int end = times.activeStart[times.rounds];
    int[] start = new int[times.rounds / ROUNDS + end / ACTIVE + 3];
    int count = 0;
    int since = 0;
    for (int r = 0; r < times.rounds; r++) {
      int to = times.activeStart[r + 1];
      if (r - since >= ROUNDS) {
        start[++count] = times.activeStart[r];
        since = r;
      }
      while (to - start[count] > ACTIVE) {
        start[count + 1] = start[count] + ACTIVE;
        count++;
        since = r;
      }
    }
    if (end > start[count]) {
      start[++count] = end;
    }
    return Arrays.copyOf(start, count + 1);
  }

  /** Work on active fronts [from, to) of a round. */
  private interface Part {
    void run(int round, int from, int to);
  }

  private static void inPieces(FrontTimes times, int[] piece, int threads, Part part) {
    Parallel.loop(
        piece.length - 1,
        1,
        threads,
        (from, to, t) -> {
          int at = piece[from];
          int r = Arrays.binarySearch(times.activeStart, at);
          // the last of several rounds that start here has fronts
          r = r < 0 ? -r - 2 : r;
          while (at < piece[to]) {
            int end = Math.min(piece[to], times.activeStart[r + 1]);
            if (end > at) {
              part.run(r, at, end);
              at = end;
            }
            r++;
          }
        });
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

  /** Counts the tasks of some of a round's fronts, by kind and by front. */
  private static void count(
      FrontTimes times,
      int r,
      int from,
      int to,
      TaskEmitter tasks,
      FrontCounts needs,
      AtomicLongArray kinds) {
    var counter = new TaskCounter(needs);
    for (int e = from; e < to; e++) {
      tasks.emit(r, times.active[e], counter);
      counter.end();
    }
    for (int k = 0; k < TaskLayout.KINDS; k++) {
      kinds.addAndGet(r * TaskLayout.KINDS + TaskLayout.place(k), counter.kinds()[k]);
    }
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
