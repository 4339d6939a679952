/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * All rounds of a stage: one list per round with the tasks of all fronts, grouped by kind in the
 * order of {@link TaskLayout}'s kinds, so that the critical path comes first. Immutable; records
 * are written on demand, any range of rounds from any thread, so that lists are built while earlier
 * rounds run. Same stage and options, same bytes.
 *
 * <p>Rounds are an order, not barriers: a task may run as soon as its front has reached the counts
 * of finished tasks in its record ({@link FrontCounts}), and its dependencies precede it in the
 * list.
 */
public final class StageSchedule {

  private final StageFronts stage;
  private final FrontTimes times;
  private final Emitter tasks;
  private final FrontCounts needs;

  /** size rounds x KINDS + 1; first record of each round's kinds, by {@link TaskLayout#place}. */
  private final long[] kindStart;

  private final VtSlots slots;
  private final double flops;

  /** size rounds; end of the S entries needed up to and in the round. */
  StageSchedule(
      StageFronts stage,
      FrontTimes times,
      Emitter tasks,
      FrontCounts needs,
      long[] kindStart,
      VtSlots slots,
      double flops) {
    this.stage = stage;
    this.times = times;
    this.tasks = tasks;
    this.needs = needs;
    this.kindStart = kindStart;
    this.slots = slots;
    this.flops = flops;
  }

  StageFronts stage() {
    return stage;
  }

  FrontCounts needs() {
    return needs;
  }

  /** Number of rounds. */
  public int rounds() {
    return times.rounds;
  }

  /** Number of tasks. */
  public long tasks() {
    return kindStart[kindStart.length - 1];
  }

  /**
   * First record of a kind in a round, whose kinds follow each other by {@link TaskLayout#place}.
   */
  public long kindStart(int round, int kind) {
    return kindStart[round * TaskLayout.KINDS + TaskLayout.place(kind)];
  }

  /** First record of a round; for round = rounds(), the end. */
  public long roundStart(int round) {
    return kindStart[round * TaskLayout.KINDS];
  }

  /** First residual slot of front f; its slots end where those of f + 1 start. */
  public int residualStart(int f) {
    return times.residualStart[f];
  }

  /** Number of residual partial sums. */
  public int residualSlots() {
    return times.residualStart[stage.fronts];
  }

  /** Number of VT slots required ({@link TaskLayout#VT_DOUBLES} each). */
  public int vtSlots() {
    return slots.count();
  }

  /** The rounds of front f; null for an untiled one. */
  public @Nullable FrontSchedule frontSchedule(int f) {
    return stage.rounds[f];
  }

  /** If Q is kept: the first VT slot of front f, followed by those of f + 1. */
  public int firstSlot(int f) {
    return slots.first(f);
  }

  /** Flops executed by the tasks, padding included. */
  public double flops() {
    return flops;
  }

  /** The first round that reads S or a block from outside for front f, if any does. */
  public int assemblyRound(int f) {
    return times.first(f);
  }

  /** The round that writes the last packed rows of front f to the output buffer. */
  public int lastRound(int f) {
    return times.rowsEnd(f);
  }

  /**
   * The round that writes the packed rows of front f up to this one, at most {@link #lastRound}. If
   * dead columns are dropped at its end, all rows are written again.
   */
  public int rowRound(int f, int row) {
    FrontSchedule s = stage.rounds[f];
    int tile = row / TaskLayout.TILE;
    if (s == null || times.isLate(f) || tile >= s.pivotTiles) {
      return lastRound(f);
    }
    return times.start[f] + s.doneRound[tile] + 1;
  }

  /** The first round in which front f is factored; S and blocks are assembled one round earlier. */
  public int firstRound(int f) {
    return times.start[f];
  }

  /**
   * Writes the records of rounds [from, to), from index 0 of the target on (which has room for
   * {@code roundStart(to) - roundStart(from)} records). Thread-safe for different targets. About 10
   * to 20 ns per record.
   */
  public void write(int from, int to, ByteBuffer target) {
    var writer = new TaskWriter(target, needs);
    long base = roundStart(from);
    for (int r = from; r < to; r++) {
      for (int k = 0; k < TaskLayout.KINDS; k++) {
        writer.seek(k, kindStart(r, k) - base);
      }
      for (int e = times.activeStart[r]; e < times.activeStart[r + 1]; e++) {
        tasks.emit(r, times.active[e], writer);
      }
      for (int k = 0; k < TaskLayout.KINDS; k++) {
        int at = r * TaskLayout.KINDS + TaskLayout.place(k);
        if (!writer.isAt(k, kindStart[at + 1] - base)) {
          throw new IllegalStateException("round " + r + ": tasks of kind " + k + " miscounted");
        }
      }
    }
  }
}
