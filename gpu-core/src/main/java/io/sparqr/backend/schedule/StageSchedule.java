/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

import java.nio.ByteBuffer;

/**
 * All rounds of a stage: one list a round that mixes the tasks of all fronts, grouped by kind in
 * the order of {@link TaskLayout}'s kinds, so what is on the critical path comes first. Immutable;
 * records are written on demand, any range of rounds from any thread, so that lists are built while
 * earlier rounds run. Same stage and options, same bytes.
 *
 * <p>Rounds are an order, not barriers: a task may run as soon as its front's counts of finished
 * tasks are what the record says ({@link FrontCounts}), and what it needs comes before it in the
 * list.
 */
public final class StageSchedule {

  private final StageFronts stage;
  private final SchedulerOptions options;
  private final FrontTimes times;
  private final FrontCounts needs;

  /** size rounds x KINDS + 1; first record of each kind of each round. */
  private final long[] kindStart;

  /** size rounds; column tiles of an Apply task of the round, at most. */
  private final int[] chunk;

  /** size fronts + 1 and its sum: first VT slot of (front, local round). */
  private final int[] slotStart;

  private final int[] slotBase;
  private final int vtSlots;
  private final double flops;

  StageSchedule(
      StageFronts stage,
      SchedulerOptions options,
      FrontTimes times,
      FrontCounts needs,
      long[] kindStart,
      int[] chunk,
      int[] slotStart,
      int[] slotBase,
      int vtSlots,
      double flops) {
    this.stage = stage;
    this.options = options;
    this.times = times;
    this.needs = needs;
    this.kindStart = kindStart;
    this.chunk = chunk;
    this.slotStart = slotStart;
    this.slotBase = slotBase;
    this.vtSlots = vtSlots;
    this.flops = flops;
  }

  /** Number of rounds. */
  public int rounds() {
    return times.rounds;
  }

  /** Number of tasks. */
  public long tasks() {
    return kindStart[kindStart.length - 1];
  }

  /** First record of a kind in a round; records of a round are contiguous, kinds ascend. */
  public long kindStart(int round, int kind) {
    return kindStart[round * TaskLayout.KINDS + kind];
  }

  /** First record of a round; for round = rounds(), the end. */
  public long roundStart(int round) {
    return kindStart[round * TaskLayout.KINDS];
  }

  /** First residual slot of front f; its slots end where those of f + 1 start. */
  public int residualStart(int f) {
    return times.residualStart[f];
  }

  /** Residual partial sums that the stage makes. */
  public int residualSlots() {
    return times.residualStart[stage.fronts];
  }

  /** VT slots that must be there ({@link TaskLayout#VT_DOUBLES} each). */
  public int vtSlots() {
    return vtSlots;
  }

  /** The rounds of front f; null for one that is not tiled. */
  public FrontSchedule frontSchedule(int f) {
    return stage.rounds[f];
  }

  /** Where Q is kept: the first VT slot of front f; those of f + 1 follow its own. */
  public int firstSlot(int f) {
    return slotStart[f] < slotBase.length ? slotBase[slotStart[f]] : vtSlots;
  }

  /** Flops that the tasks execute, padding included. */
  public double flops() {
    return flops;
  }

  /** S entries [0, x) must be on the device when the round starts. O(1). */
  public long entriesNeeded(int round) {
    return times.entriesNeeded[round];
  }

  /** The round that writes the last packed rows of front f to the output buffer. */
  public int lastRound(int f) {
    return times.start[f] + (stage.rounds[f] == null ? 0 : stage.rounds[f].rounds());
  }

  /** The first round in which front f is factored; S and blocks come in one round earlier. */
  public int firstRound(int f) {
    return times.start[f];
  }

  /**
   * Writes the records of rounds [from, to), from index 0 of the target on (which has room for
   * {@code roundStart(to) - roundStart(from)} records). Thread-safe for different targets. About 10
   * to 20 ns a record.
   */
  public void write(int from, int to, ByteBuffer target) {
    var writer = new TaskWriter(target);
    long base = roundStart(from);
    for (int r = from; r < to; r++) {
      for (int k = 0; k < TaskLayout.KINDS; k++) {
        writer.seek(k, kindStart(r, k) - base);
      }
      for (int e = times.activeStart[r]; e < times.activeStart[r + 1]; e++) {
        write(r, times.active[e], writer);
      }
      for (int k = 0; k < TaskLayout.KINDS; k++) {
        if (!writer.isAt(k, kindStart[r * TaskLayout.KINDS + k + 1] - base)) {
          throw new IllegalStateException("round " + r + ": tasks of kind " + k + " miscounted");
        }
      }
    }
  }

  /** Everything that front f does in round r. */
  private void write(int r, int f, TaskWriter w) {
    int local = r - times.start[f];
    FrontSchedule s = stage.rounds[f];
    if (local == -1) {
      w.need(0, 0);
      writeAssembly(f, s, w);
      return;
    }
    w.need(needs.chain(f, local), needs.bulk(f, local));
    if (s == null) {
      writeSmall(f, w);
      return;
    }
    if (local < s.rounds()) {
      int readBase = local == 0 ? 0 : slotBase[slotStart[f] + local - 1];
      int writeBase = slotBase[slotStart[f] + local];
      for (int op = s.opStart(local); op < s.opStart(local + 1); op = s.next(op)) {
        if (s.kind(op) != TaskLayout.APPLY) {
          w.need(needs.chain(f, local), needs.bulkAhead(f, local));
          w.factorize(s, op, f, readBase, writeBase);
          w.need(needs.chain(f, local), needs.bulk(f, local));
        }
        int from = s.applyFrom(op);
        if (from < s.columnTiles) {
          w.apply(s, op, f, readBase, from, s.columnTiles, chunk[r]);
        }
      }
    }
    for (int k = FrontTimes.firstDone(s, local - 1); k < FrontTimes.firstDone(s, local); k++) {
      writeFinalRows(f, k, w);
    }
    if (local == s.rounds()) {
      writeEnd(f, w);
    }
  }

  private void writeAssembly(int f, FrontSchedule s, TaskWriter w) {
    if (s != null) {
      long to = stage.sStart[f + 1];
      long step = scatterEntries(stage, options);
      for (long e = stage.sStart[f]; e < to; e += step) {
        w.scatter(f, e, Math.min(to, e + step));
      }
    }
    for (int b = times.blockStart[f]; b < times.blockStart[f + 1]; b++) {
      int block = times.block[b];
      int width = stage.blockCn[block] + stage.rhs;
      for (int row = 0; row < stage.blockCm[block]; row += options.packRows()) {
        int end = Math.min(stage.blockCm[block], row + options.packRows());
        for (int c = row; c < width; c += options.packColumns()) {
          int to = Math.min(width, c + options.packColumns());
          w.pack(TaskLayout.ASSEMBLE_BLOCK, stage.fronts + block, f, row, end, c, to);
        }
      }
    }
  }

  private void writeSmall(int f, TaskWriter w) {
    int flags = 0;
    if (stage.sStart[f + 1] > stage.sStart[f]) {
      flags |= TaskLayout.SMALL_ASSEMBLE_S;
    }
    if (stage.parent[f] >= 0) {
      flags |= TaskLayout.SMALL_PACK_ASSEMBLE;
    }
    if (stage.outRows[f] > 0) {
      flags |= TaskLayout.SMALL_PACK_ROWS;
    }
    int slot = times.residualStart[f];
    if (times.residualStart[f + 1] > slot) {
      flags |= TaskLayout.SMALL_RESIDUAL;
    }
    w.small(
        flags,
        f,
        stage.parent[f],
        slot,
        stage.outRows[f],
        stage.outStart[f],
        stage.packedRhs(f, 0));
  }

  /** Rows of row tile k that nothing writes any more: to the output and to the parent. */
  private void writeFinalRows(int f, int k, TaskWriter w) {
    int from = k * TaskLayout.TILE;
    int to = Math.min(stage.outRows[f], from + TaskLayout.TILE);
    int step = rowsOut(stage.fn[f]);
    for (int row = from; row < to; row += step) {
      int end = Math.min(to, row + step);
      long out = stage.packedRow(f, row);
      w.out(TaskLayout.PACK_ROWS, 0, f, 0, row, end, out, stage.packedRhs(f, row));
    }
    if (stage.parent[f] >= 0) {
      int first = Math.max(from - stage.fp[f], 0);
      int end = Math.min(from + TaskLayout.TILE - stage.fp[f], stage.cm[f]);
      int width = stage.fn[f] - stage.fp[f] + stage.rhs;
      for (int row = first; row < end; row += options.packRows()) {
        int rowTo = Math.min(end, row + options.packRows());
        for (int c = row; c < width; c += options.packColumns()) {
          int cTo = Math.min(width, c + options.packColumns());
          w.pack(TaskLayout.PACK_ASSEMBLE, f, stage.parent[f], row, rowTo, c, cTo);
        }
      }
    }
  }

  /** Rows of one PACK_ROWS task: about 16384 entries, since one thread block copies them. */
  private static int rowsOut(int fn) {
    return Math.max(4, Math.min(TaskLayout.TILE, 16384 / fn & ~3));
  }

  /** When all is done: the residual; an empty block only tells the parent whether it is sound. */
  private void writeEnd(int f, TaskWriter w) {
    if (stage.parent[f] >= 0 && stage.cm[f] == 0) {
      w.pack(TaskLayout.PACK_ASSEMBLE, f, stage.parent[f], 0, 0, 0, 0);
    }
    for (int slot = times.residualStart[f]; slot < times.residualStart[f + 1]; slot++) {
      int from = stage.tailRow(f) + (slot - times.residualStart[f]) * FrontTimes.RESIDUAL_ROWS;
      int to = Math.min(stage.fm[f], from + FrontTimes.RESIDUAL_ROWS);
      w.out(TaskLayout.RESIDUAL, 0, f, slot, from, to, 0, 0);
    }
  }

  /** Adds what front f does in round r to the counts of the kinds, but Apply tasks. */
  static void count(
      StageFronts stage, SchedulerOptions o, FrontTimes times, int r, int f, long[] counts) {
    int local = r - times.start[f];
    FrontSchedule s = stage.rounds[f];
    if (local == -1) {
      counts[TaskLayout.ASSEMBLE_S] += scatterTasks(stage, o, f);
      counts[TaskLayout.ASSEMBLE_BLOCK] += blockTasks(stage, o, times, f);
      return;
    }
    if (s == null) {
      counts[TaskLayout.SMALL_FRONT]++;
      return;
    }
    for (int k = FrontTimes.firstDone(s, local - 1); k < FrontTimes.firstDone(s, local); k++) {
      int from = k * TaskLayout.TILE;
      int rows = Math.min(stage.outRows[f], from + TaskLayout.TILE) - from;
      int step = rowsOut(stage.fn[f]);
      counts[TaskLayout.PACK_ROWS] += rows > 0 ? (rows + step - 1) / step : 0;
      if (stage.parent[f] >= 0) {
        counts[TaskLayout.PACK_ASSEMBLE] += packTasks(stage, o, f, k);
      }
    }
    if (local == s.rounds()) {
      counts[TaskLayout.PACK_ASSEMBLE] += stage.parent[f] >= 0 && stage.cm[f] == 0 ? 1 : 0;
      counts[TaskLayout.RESIDUAL] += times.residualStart[f + 1] - times.residualStart[f];
    }
  }

  private static long scatterTasks(StageFronts stage, SchedulerOptions o, int f) {
    long entries = stage.rounds[f] == null ? 0 : stage.sStart[f + 1] - stage.sStart[f];
    long step = scatterEntries(stage, o);
    return (entries + step - 1) / step;
  }

  /** Entries of an ASSEMBLE_S: fewer where the stage has few, for more blocks to share them. */
  private static long scatterEntries(StageFronts stage, SchedulerOptions o) {
    long even = stage.sStart[stage.fronts] / (4L * o.applyTasks());
    return Math.max((o.scatterEntries() + 3) / 4, Math.min(o.scatterEntries(), even));
  }

  private static long blockTasks(StageFronts stage, SchedulerOptions o, FrontTimes times, int f) {
    long tasks = 0;
    for (int b = times.blockStart[f]; b < times.blockStart[f + 1]; b++) {
      int block = times.block[b];
      tasks += packTasks(o, 0, stage.blockCm[block], stage.blockCn[block] + stage.rhs);
    }
    return tasks;
  }

  /** Tasks that pass the contribution rows of row tile k of front f on. */
  private static long packTasks(StageFronts stage, SchedulerOptions o, int f, int k) {
    int from = k * TaskLayout.TILE;
    int first = Math.max(from - stage.fp[f], 0);
    int end = Math.min(from + TaskLayout.TILE - stage.fp[f], stage.cm[f]);
    return packTasks(o, first, end, stage.fn[f] - stage.fp[f] + stage.rhs);
  }

  /** Tasks that fill front f with S and with blocks from outside. */
  static long ownFilling(StageFronts stage, SchedulerOptions o, FrontTimes times, int f) {
    return scatterTasks(stage, o, f) + blockTasks(stage, o, times, f);
  }

  /** Tasks of front f that fill its parent. */
  static long parentFilling(StageFronts stage, SchedulerOptions o, int f) {
    FrontSchedule s = stage.rounds[f];
    if (s == null || stage.cm[f] == 0) {
      return 1;
    }
    long tasks = 0;
    for (int k = stage.fp[f] / TaskLayout.TILE; k < s.pivotTiles; k++) {
      tasks += packTasks(stage, o, f, k);
    }
    return tasks;
  }

  private static long packTasks(SchedulerOptions o, int rowFrom, int rowTo, int width) {
    long tasks = 0;
    for (int row = rowFrom; row < rowTo; row += o.packRows()) {
      tasks += (width - row + o.packColumns() - 1) / o.packColumns();
    }
    return tasks;
  }
}
