/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

import java.nio.ByteBuffer;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Writes task records of rounds directly into a buffer: one position per kind, so that a round's
 * list is grouped by kind. Not thread-safe; several writers may fill different rounds.
 */
final class TaskWriter implements TaskSink {

  private final ByteBuffer b;

  /** Next record of each kind, relative to the buffer's start. */
  private final int[] next = new int[TaskLayout.KINDS];

  private final @Nullable FrontCounts counts;

  /** Dependencies of tasks, chain and bulk counts: of tasks that run ahead, and of the others. */
  private long ahead;

  private long need;

  /** The front and the local round of {@link #begin}. */
  private int its;

  private int local;

  /** Flag of the following tasks. */
  private int mark;

  /**
   * Writes from the target's start on.
   *
   * @param counts the dependencies; without them {@link #begin} is not called
   */
  TaskWriter(ByteBuffer target, @Nullable FrontCounts counts) {
    TaskLayout.requireLittleEndian(target);
    b = target;
    this.counts = counts;
  }

  /** Sets the position of the next record of a kind. */
  void seek(int kind, long record) {
    next[kind] = Math.toIntExact(record);
  }

  /**
   * Whether this is the position of the kind's next record: checks the counts against the records
   * written.
   */
  boolean isAt(int kind, long record) {
    return next[kind] == record;
  }

  @Override
  public void begin(int front, int local) {
    its = front;
    this.local = local;
    if (local < 0) {
      need = 0;
      ahead = 0;
      return;
    }
    FrontCounts counts = Objects.requireNonNull(this.counts);
    int chain = counts.chain(front, local);
    need = pair(chain, counts.bulk(front, local));
    ahead = pair(chain, counts.bulkAhead(front, local));
  }

  private static long pair(int low, int high) {
    return (low & 0xffffffffL) | (long) high << 32;
  }

  private int record(int kind, int size, int applied, int flags, int front, long need) {
    int at = Math.multiplyExact(next[kind]++, TaskLayout.TASK_BYTES);
    int head = kind | size << 8 | applied << 16 | (flags | mark) << 24;
    b.putLong(at, pair(head, front));
    b.putLong(at + TaskLayout.NEED_CHAIN, need);
    b.putLong(at + TaskLayout.NEED_CHAIN + 8, 0);
    return at;
  }

  private void pair(int at, int low, int high) {
    b.putLong(at, pair(low, high));
  }

  private void clear(int at, int from) {
    for (int k = from; k < TaskLayout.NEED_CHAIN; k += 8) {
      b.putLong(at + k, 0);
    }
  }

  @Override
  public void factorize(FrontSchedule s, int op, int front, int readBase, int writeBase) {
    int kind = s.kind(op);
    int size = s.size(op);
    int at = record(kind, size, s.applied(op), s.flags(op), front, ahead);
    int read = kind == TaskLayout.FACTORIZE ? -1 : readBase + s.readSlot(op);
    int write = s.writeSlot(op) < 0 ? -1 : writeBase + s.writeSlot(op);
    pair(at + TaskLayout.QR_COLUMN, s.column(op), read);
    pair(at + TaskLayout.QR_VT_WRITE, write, 0);
    b.putInt(at + TaskLayout.QR_TO, 0);
    for (int k = 0; k <= TaskLayout.MAX_BUNDLE; k++) {
      b.putInt(at + TaskLayout.QR_TILE + 4 * k, k < size ? s.tile(op, k) : 0);
    }
  }

  @Override
  public void marked(boolean on) {
    mark = on ? TaskLayout.FLAG_DEVICES : 0;
  }

  @Override
  public void pull(Task.Pull pull, boolean waits) {
    int size = 0;
    int part = TaskLayout.PART_TILES;
    long needs = waits ? need : 0;
    if (pull.part() instanceof DevicePart.Bundle made) {
      // It counts as a chain task of the round that made it: whoever waits for that round's must
      // not
      // be content with it instead. And all assembly comes first.
      FrontCounts counts = Objects.requireNonNull(this.counts);
      needs = pair(counts.chain(its, local - 1), counts.bulk(its, 0));
      size = made.rowTiles().length;
      part = TaskLayout.PART_BUNDLE;
    } else if (pull.part() instanceof DevicePart.Block) {
      part = TaskLayout.PART_BLOCK;
    }
    int at = record(TaskLayout.PULL, size, part, 0, pull.front(), needs);
    pair(at + TaskLayout.PULL_FROM, pull.from(), pull.made());
    clear(at, 16);
    if (pull.part() instanceof DevicePart.Bundle v) {
      pair(at + TaskLayout.PULL_COLUMN, v.column(), v.slot());
      for (int k = 0; k < size; k++) {
        b.putInt(at + TaskLayout.QR_TILE + 4 * k, v.rowTiles()[k]);
      }
    } else if (pull.part() instanceof DevicePart.Tiles t) {
      pair(at + TaskLayout.PULL_COLUMN, t.firstTile(), 0);
      pair(at + TaskLayout.PULL_ROW_FROM, t.rowFrom(), t.rowTo());
      pair(at + TaskLayout.PULL_COLUMN_TO, 0, t.owners().home());
      pair(at + TaskLayout.PULL_COUNT, t.owners().count(), t.owners().width());
    } else if (pull.part() instanceof DevicePart.Block k) {
      pair(at + TaskLayout.PULL_COLUMN, k.columnFrom(), 0);
      pair(at + TaskLayout.PULL_ROW_FROM, k.rowFrom(), k.rowTo());
      b.putInt(at + TaskLayout.PULL_COLUMN_TO, k.columnTo());
    }
  }

  @Override
  public void announce() {
    clear(record(TaskLayout.ANNOUNCE, 0, 0, 0, its, need), 8);
  }

  @Override
  public void apply(FrontSchedule s, int op, int front, int readBase, int from, int to, int parts) {
    boolean near = from == s.applyFrom(op);
    int mask = s.kind(op) == TaskLayout.APPLY ? (1 << (s.size(op) - 1)) - 1 : s.applied(op);
    int first = -1;
    for (int p = 0; p < parts; p++) {
      int lo = from + (int) ((long) (to - from) * p / parts);
      int hi = from + (int) ((long) (to - from) * (p + 1) / parts);
      int kind = near && p == 0 ? TaskLayout.APPLY_NEAR : TaskLayout.APPLY;
      int at = record(kind, 1 + Integer.bitCount(mask), 0, 0, front, need);
      if (first < 0) {
        first = at;
        pair(at + TaskLayout.QR_COLUMN, s.column(op), readBase + s.readSlot(op));
        pair(at + TaskLayout.QR_VT_WRITE, -1, lo);
        clear(at, 24);
        appliedTiles(s, op, at, mask);
      } else {
        for (int k = 8; k < TaskLayout.NEED_CHAIN; k += 8) {
          b.putLong(at + k, b.getLong(first + k));
        }
        b.putInt(at + TaskLayout.QR_FROM, lo);
      }
      b.putInt(at + TaskLayout.QR_TO, hi);
    }
  }

  private void appliedTiles(FrontSchedule s, int op, int at, int mask) {
    int place = at + TaskLayout.QR_TILE;
    b.putInt(place, s.tile(op, 0));
    for (int k = 1; k < s.size(op); k++) {
      if ((mask >> (k - 1) & 1) != 0) {
        place += 4;
        b.putInt(place, s.tile(op, k));
      }
    }
  }

  @Override
  public void pack(
      int kind, int from, int parent, int rowFrom, int rowTo, int columnFrom, int columnTo) {
    int at = record(kind, 0, 0, 0, from, need);
    pair(at + TaskLayout.PACK_PARENT, parent, rowFrom);
    pair(at + TaskLayout.PACK_ROW_TO, rowTo, columnFrom);
    pair(at + TaskLayout.PACK_COLUMN_TO, columnTo, 0);
    clear(at, 32);
  }

  @Override
  public void scatter(int front, long from, long to) {
    int at = record(TaskLayout.ASSEMBLE_S, 0, 0, 0, front, need);
    b.putLong(at + 8, 0);
    b.putLong(at + TaskLayout.SCATTER_FROM, from);
    b.putLong(at + TaskLayout.SCATTER_TO, to);
    clear(at, 32);
  }

  @Override
  public void small(int flags, int front, int parent, int slot, int rows, long out, long outRhs) {
    int at = (next[TaskLayout.SMALL_FRONT]) * TaskLayout.TASK_BYTES;
    out(TaskLayout.SMALL_FRONT, flags, front, slot, 0, rows, out, outRhs);
    b.putInt(at + TaskLayout.SMALL_PARENT, parent);
  }

  @Override
  public void drop(
      int front, int parent, int slot, int vtFrom, int most, int rows, long out, long outRhs) {
    int at = next[TaskLayout.DROP] * TaskLayout.TASK_BYTES;
    out(TaskLayout.DROP, 0, front, slot, vtFrom, rows, out, outRhs);
    b.putInt(at + TaskLayout.SMALL_PARENT, parent);
    b.putInt(at + TaskLayout.OUT_MOST, most);
  }

  @Override
  public void out(
      int kind, int flags, int front, int slot, int rowFrom, int rowTo, long out, long outRhs) {
    int at = record(kind, 0, 0, flags, front, need);
    pair(at + TaskLayout.OUT_SLOT, slot, rowFrom);
    pair(at + TaskLayout.OUT_ROW_TO, rowTo, 0);
    b.putLong(at + TaskLayout.OUT_OUT, out);
    b.putLong(at + TaskLayout.OUT_OUT_RHS, outRhs);
    clear(at, 40);
  }
}
