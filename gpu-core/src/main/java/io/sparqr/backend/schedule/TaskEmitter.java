/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

import org.jspecify.annotations.Nullable;

/**
 * The tasks of each front of a stage in each round: the only place that decides their kinds, rows
 * and columns. Thread-safe once the rounds' chunks are set.
 */
final class TaskEmitter implements Emitter {

  private final StageFronts stage;
  private final SchedulerOptions options;
  private final FrontTimes times;
  private final VtSlots slots;

  /** size rounds; most column tiles of an Apply task of the round. */
  private final int[] chunk;

  TaskEmitter(StageFronts stage, SchedulerOptions options, FrontTimes times, VtSlots slots) {
    this.stage = stage;
    this.options = options;
    this.times = times;
    this.slots = slots;
    chunk = new int[times.rounds];
  }

  /**
   * Cuts the round's Apply tasks, if possible into enough to keep the device busy.
   *
   * @param applyTiles (operation, column tile) pairs of the round
   */
  void cut(int round, long applyTiles) {
    long even = (applyTiles + options.applyTasks() - 1) / options.applyTasks();
    chunk[round] = (int) Math.max(1, Math.min(options.maxApplyTiles(), even));
  }

  /** Most column tiles of an Apply task of a round. */
  int chunk(int round) {
    return chunk[round];
  }

  @Override
  public void emit(int r, int f, TaskSink sink) {
    emit(r, f, stage.parent[f], sink);
  }

  /** The same for a front whose block goes to this parent, or if -1 to none by these tasks. */
  void emit(int r, int f, int parent, TaskSink sink) {
    int local = r - times.start[f];
    FrontSchedule s = stage.rounds[f];
    sink.begin(f, local);
    if (local == -1) {
      emitAssembly(f, s, sink);
      return;
    }
    if (s == null) {
      emitSmall(f, parent, sink);
      return;
    }
    if (local < s.rounds()) {
      int readBase = local == 0 ? 0 : slots.base(f, local - 1);
      int writeBase = slots.base(f, local);
      for (int op = s.opStart(local); op < s.opStart(local + 1); op = s.next(op)) {
        if (s.kind(op) != TaskLayout.APPLY) {
          sink.factorize(s, op, f, readBase, writeBase);
        }
        int tiles = s.columnTiles - s.applyFrom(op);
        if (tiles > 0) {
          int parts = (tiles + chunk[r] - 1) / chunk[r];
          sink.apply(s, op, f, readBase, s.applyFrom(op), s.columnTiles, parts);
        }
      }
    }
    for (int k = FrontTimes.firstDone(s, local - 1); k < FrontTimes.firstDone(s, local); k++) {
      emitFinalRows(f, k, parent, sink);
    }
    if (local == s.rounds()) {
      emitEnd(f, parent, sink);
    }
  }

  void emitAssembly(int f, @Nullable FrontSchedule s, TaskSink sink) {
    if (s != null) {
      long to = stage.sStart[f + 1];
      long step = scatterEntries();
      for (long e = stage.sStart[f]; e < to; e += step) {
        sink.scatter(f, e, Math.min(to, e + step));
      }
    }
    for (int b = times.blockStart[f]; b < times.blockStart[f + 1]; b++) {
      int block = times.block[b];
      int number = stage.fronts + block;
      int width = stage.blockCn[block] + stage.rhs;
      emitPacks(TaskLayout.ASSEMBLE_BLOCK, number, f, 0, stage.blockCm[block], 0, width, sink);
    }
  }

  /** Emits the assembly of rows [first, end) and columns [left, width) of an upper trapezoid. */
  void emitPacks(
      int kind, int from, int parent, int first, int end, int left, int width, TaskSink sink) {
    for (int row = first; row < end; row += options.packRows()) {
      int rowTo = Math.min(end, row + options.packRows());
      for (int c = Math.max(row, left); c < width; c += options.packColumns()) {
        sink.pack(kind, from, parent, row, rowTo, c, Math.min(width, c + options.packColumns()));
      }
    }
  }

  private void emitSmall(int f, int parent, TaskSink sink) {
    int flags = 0;
    if (stage.sStart[f + 1] > stage.sStart[f]) {
      flags |= TaskLayout.SMALL_ASSEMBLE_S;
    }
    if (parent >= 0) {
      flags |= TaskLayout.SMALL_PACK_ASSEMBLE;
    }
    if (stage.outRows[f] > 0) {
      flags |= TaskLayout.SMALL_PACK_ROWS;
    }
    int slot = times.residualStart[f];
    if (times.residualStart[f + 1] > slot) {
      flags |= TaskLayout.SMALL_RESIDUAL;
    }
    boolean leaves = parent != stage.parent[f];
    if (leaves) {
      sink.marked(true);
    }
    sink.small(flags, f, parent, slot, stage.outRows[f], stage.outStart[f], stage.packedRhs(f, 0));
    if (leaves) {
      sink.marked(false);
    }
  }

  /** Emits the final rows of row tile k to the output and to the parent, if any. */
  void emitFinalRows(int f, int k, int parent, TaskSink sink) {
    int from = k * TaskLayout.TILE;
    int to = Math.min(stage.outRows[f], from + TaskLayout.TILE);
    int step = rowsOut(stage.fn[f]);
    for (int row = from; row < to; row += step) {
      int end = Math.min(to, row + step);
      long out = stage.packedRow(f, row);
      sink.out(TaskLayout.PACK_ROWS, 0, f, 0, row, end, out, stage.packedRhs(f, row));
    }
    if (parent >= 0) {
      int first = Math.max(from - stage.fp[f], 0);
      int end = Math.min(from + TaskLayout.TILE - stage.fp[f], stage.cm[f]);
      int width = stage.fn[f] - stage.fp[f] + stage.rhs;
      emitPacks(TaskLayout.PACK_ASSEMBLE, f, parent, first, end, 0, width, sink);
    }
  }

  /** Rows of one PACK_ROWS task: about 16384 entries, as much as one thread block should copy. */
  private static int rowsOut(int fn) {
    return Math.max(4, Math.min(TaskLayout.TILE, 16384 / fn & ~3));
  }

  /**
   * Emits the tasks after the last round: the residual, and for an empty block a task that only
   * passes the front's state to the parent.
   */
  void emitEnd(int f, int parent, TaskSink sink) {
    if (parent >= 0 && stage.cm[f] == 0) {
      sink.pack(TaskLayout.PACK_ASSEMBLE, f, parent, 0, 0, 0, 0);
    }
    int end = times.residualStart[f + 1];
    int dropSlot = stage.dropsRhs(f) ? --end : -1;
    for (int slot = times.residualStart[f]; slot < end; slot++) {
      int from = stage.tailRow(f) + (slot - times.residualStart[f]) * FrontTimes.RESIDUAL_ROWS;
      int to = Math.min(stage.fm[f], from + FrontTimes.RESIDUAL_ROWS);
      sink.out(TaskLayout.RESIDUAL, 0, f, slot, from, to, 0, 0);
    }
    int most = stage.dropMost(f);
    // Leftover rows do not go to another device.
    boolean leaves = parent != stage.parent[f];
    boolean here = !leaves || stage.dropsAlone(f);
    if (leaves) {
      sink.marked(true);
    }
    for (int k = 0; here && k < stage.dropWorkers(f); k++) {
      long out = stage.outStart[f];
      int rows = stage.outRows[f];
      long right = stage.packedRhs(f, 0);
      sink.drop(f, parent, dropSlot, slots.dropFrom(f), most, rows, out, right);
    }
    if (leaves) {
      sink.marked(false);
    }
  }

  /** Entries of an ASSEMBLE_S: fewer in a small stage, so that more thread blocks share them. */
  private long scatterEntries() {
    long even = stage.sStart[stage.fronts] / (4L * options.applyTasks());
    long least = (options.scatterEntries() + 3) / 4;
    return Math.max(least, Math.min(options.scatterEntries(), even));
  }
}
