/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The binary layout of task records and front descriptors, the same as in the kernels' header
 * {@code task_layout.cuh}, which explains every field. Little-endian; all offsets in bytes.
 *
 * <pre>
 * task, 80 bytes:   0 kind u8 | 1 size u8 | 2 applied u8 | 3 flags u8 | 4 front i32
 *   qr              8 column | 12 vtRead | 16 vtWrite | 20 from | 24 to | 28 tile[9]        i32
 *   pack            8 parent | 12 rowFrom | 16 rowTo | 20 columnFrom | 24 columnTo          i32
 *   scatter        16 from | 24 to                                                          i64
 *   out             8 slot | 12 rowFrom | 16 rowTo (i32) | 24 out | 32 outRhs (i64)
 *   drop            8 slot | 12 vtFrom | 16 rows | 20 parent (i32) | 24 out | 32 outRhs (i64)
 *                  40 most i32
 *   pull            8 from | 12 made | 16 column | 20 slot | 24 rowFrom | 28 rowTo
 *                  32 columnTo | 36 home | 40 count | 44 width; bundle: 28 tile[]           i32
 *   all            64 needChain | 68 needBulk                                            i32
 * front, 96 bytes:  0 data | 8 dataRhs | 16 sFrom | 24 sTo | 32 rowMap | 40 columnMap       i64
 *                  48 ld | 52 fm | 56 fn | 60 fp | 64 rhs | 68 cm | 72 rowTiles
 *                  76 columnTiles | 80 parent | 84 id | 88 drop                             i32
 * </pre>
 */
public final class TaskLayout {

  /** Rows and columns of a tile. */
  public static final int TILE = 32;

  /** Largest bundle. */
  public static final int MAX_BUNDLE = 8;

  /**
   * Columns of a small front at most, for which a kernel has room; one without rows may have more.
   */
  public static final int MAX_SMALL_COLUMNS = 256;

  /** Doubles of a VT slot: the first row tile's V, then T, both 32 x 32 row-major. */
  public static final int VT_DOUBLES = 2 * TILE * TILE;

  /** Bytes of a task record. */
  public static final int TASK_BYTES = 80;

  /** Bytes of a front descriptor. */
  public static final int FRONT_BYTES = 96;

  /** Kinds of tasks: the numbers of {@code SparqrKind}, the order within a round. */
  public static final int FACTORIZE = 0;

  public static final int APPLY_FACTORIZE = 1;
  public static final int SMALL_FRONT = 2;
  public static final int PACK_ASSEMBLE = 3;
  public static final int ASSEMBLE_BLOCK = 4;
  public static final int ASSEMBLE_S = 5;
  public static final int PACK_ROWS = 6;
  public static final int RESIDUAL = 7;

  /** An Apply on columns that the next round may factorize; nothing waits for a plain APPLY. */
  public static final int APPLY_NEAR = 8;

  public static final int APPLY = 9;

  /** Drops the dead columns of a finished front, if any; several tasks per front. */
  public static final int DROP = 10;

  /** Kinds below this one are those of lists for one device. */
  public static final int KINDS_OF_ONE = 11;

  /** Takes a part of a front from another device. */
  public static final int PULL = 11;

  /** Tells other devices that a front is as its counts say. */
  public static final int ANNOUNCE = 12;

  /** Number of kinds. */
  public static final int KINDS = 13;

  /** States of a front. Sound: no dead pivot in it, and none below it that affects it. */
  public static final int STATE_SOUND = 0;

  /**
   * A dead pivot in the front, or leftover rows of a child without a planned place: the front is
   * finished anyway, but only its DROP tasks, if any, pass a block on.
   */
  public static final int STATE_DEAD = 1;

  /** A dead pivot below the front: its tasks do nothing, and it is left for another stage. */
  public static final int STATE_PENDING = 2;

  /** Its dead columns are dropped; its rows and its block are in the places of a sound front. */
  public static final int STATE_DROPPED = 3;

  /** As above, and the parent has received more of its rows than planned for its block. */
  public static final int STATE_PASSED = 4;

  /** A pivot was too near the tolerance, or leftover rows had no place: its rows of R are lost. */
  public static final int STATE_FAILED = 5;

  /**
   * Minimum factor between live pivots and the tolerance for dropping a front's dead columns from
   * its R.
   */
  public static final double MARGIN = 100;

  /**
   * As above, for each dead pivot below the tolerance. Smaller, since a dead pivot is rounding
   * error and grows with the front, while a live one says how far the columns are from dependent.
   */
  public static final double DEAD_MARGIN = 10;

  static final int FLAG_FINAL = 1;

  /**
   * Set only in lists for several devices. FACTORIZE, APPLY_FACTORIZE: counts in its front's word
   * of announcements too ({@link DevicePart}). SMALL_FRONT, DROP: the block leaves the device, so
   * the task passes none on and counts as a bulk task of its own front. PACK_ASSEMBLE: of a block
   * that has left its device or may; copies rows of a front whose dead columns are dropped as well.
   */
  static final int FLAG_DEVICES = 0x80;

  static final int SMALL_ASSEMBLE_S = 1;
  static final int SMALL_PACK_ASSEMBLE = 2;
  static final int SMALL_PACK_ROWS = 4;
  static final int SMALL_RESIDUAL = 8;

  static final int KIND = 0;
  static final int SIZE = 1;
  static final int APPLIED = 2;
  static final int FLAGS = 3;
  static final int FRONT = 4;

  static final int QR_COLUMN = 8;
  static final int QR_VT_READ = 12;
  static final int QR_VT_WRITE = 16;
  static final int QR_FROM = 20;
  static final int QR_TO = 24;
  static final int QR_TILE = 28;

  static final int PACK_PARENT = 8;
  static final int PACK_ROW_FROM = 12;
  static final int PACK_ROW_TO = 16;
  static final int PACK_COLUMN_FROM = 20;
  static final int PACK_COLUMN_TO = 24;

  static final int SCATTER_FROM = 16;
  static final int SCATTER_TO = 24;

  static final int OUT_SLOT = 8;
  static final int OUT_ROW_FROM = 12;
  static final int OUT_ROW_TO = 16;
  static final int SMALL_PARENT = 20;
  static final int OUT_OUT = 24;
  static final int OUT_OUT_RHS = 32;
  static final int OUT_MOST = 40;

  static final int PULL_FROM = 8;
  static final int PULL_MADE = 12;
  static final int PULL_COLUMN = 16;
  static final int PULL_SLOT = 20;
  static final int PULL_ROW_FROM = 24;
  static final int PULL_ROW_TO = 28;
  static final int PULL_COLUMN_TO = 32;
  static final int PULL_HOME = 36;
  static final int PULL_COUNT = 40;
  static final int PULL_WIDTH = 44;

  /** Parts of PULL, in the byte of {@link #APPLIED}. */
  static final int PART_BUNDLE = 0;

  static final int PART_TILES = 1;
  static final int PART_BLOCK = 2;

  static final int NEED_CHAIN = 64;
  static final int NEED_BULK = 68;

  static final int FRONT_DATA = 0;
  static final int FRONT_DATA_RHS = 8;
  static final int FRONT_S_FROM = 16;
  static final int FRONT_S_TO = 24;
  static final int FRONT_ROW_MAP = 32;
  static final int FRONT_COLUMN_MAP = 40;
  static final int FRONT_LD = 48;
  static final int FRONT_FM = 52;
  static final int FRONT_FN = 56;
  static final int FRONT_FP = 60;
  static final int FRONT_RHS = 64;
  static final int FRONT_CM = 68;
  static final int FRONT_ROW_TILES = 72;
  static final int FRONT_COLUMN_TILES = 76;
  static final int FRONT_PARENT = 80;
  static final int FRONT_ID = 84;
  static final int FRONT_DROP = 88;

  private TaskLayout() {}

  /** Whether a front in this state has delivered its rows of R. */
  public static boolean isDone(int state) {
    return state == STATE_SOUND || state == STATE_DROPPED || state == STATE_PASSED;
  }

  /** Tiles that cover n rows or columns. */
  public static int tiles(int n) {
    return (n + TILE - 1) / TILE;
  }

  /**
   * The place of a kind in a round's list: announcements first, then what waits for those of other
   * devices, then the kinds that all lists have, ascending.
   */
  public static int place(int kind) {
    return kind == ANNOUNCE ? 0 : kind == PULL ? 1 : kind + 2;
  }

  /** Kind of the task at byte {@code at}; below {@link #KINDS} in every list that is in order. */
  public static int kind(ByteBuffer b, int at) {
    return b.get(at + KIND) & 0xff;
  }

  /** Front of the task at byte {@code at}; for an ASSEMBLE_BLOCK the block's descriptor. */
  public static int front(ByteBuffer b, int at) {
    return b.getInt(at + FRONT);
  }

  /** Chain tasks of its front that must be done before the task at byte {@code at} runs. */
  public static int needChain(ByteBuffer b, int at) {
    return b.getInt(at + NEED_CHAIN);
  }

  /** Bulk tasks of its front that must be done before the task at byte {@code at} runs. */
  public static int needBulk(ByteBuffer b, int at) {
    return b.getInt(at + NEED_BULK);
  }

  /** Whether the task at byte {@code at} counts as a chain task of its front. */
  public static boolean countsForChain(ByteBuffer b, int at) {
    int kind = kind(b, at);
    return kind == FACTORIZE
        || kind == APPLY_FACTORIZE
        || kind == APPLY_NEAR
        || kind == PULL && b.get(at + APPLIED) == PART_BUNDLE;
  }

  /** Whether the task at byte {@code at} counts as an announcement of its front. */
  public static boolean announces(ByteBuffer b, int at) {
    int kind = kind(b, at);
    return kind == ANNOUNCE || marked(b, at) && (kind == FACTORIZE || kind == APPLY_FACTORIZE);
  }

  /** Whether the task at byte {@code at} concerns other devices. */
  public static boolean marked(ByteBuffer b, int at) {
    return (b.get(at + FLAGS) & FLAG_DEVICES) != 0;
  }

  /** The front for which the task at byte {@code at} counts as a bulk task, or -1. */
  public static int countsForBulk(ByteBuffer b, int at) {
    int kind = kind(b, at);
    if (marked(b, at) && (kind == SMALL_FRONT || kind == DROP)) {
      return front(b, at);
    }
    return switch (kind) {
      case APPLY, ASSEMBLE_S -> front(b, at);
      case PULL -> b.get(at + APPLIED) == PART_BUNDLE ? -1 : front(b, at);
      case PACK_ASSEMBLE, ASSEMBLE_BLOCK -> b.getInt(at + PACK_PARENT);
      case SMALL_FRONT ->
          (b.get(at + FLAGS) & SMALL_PACK_ASSEMBLE) != 0 ? b.getInt(at + SMALL_PARENT) : -1;
      case DROP -> b.getInt(at + SMALL_PARENT);
      default -> -1;
    };
  }

  /** Reads the task record at byte offset {@code at} of a little-endian buffer. */
  public static Task decode(ByteBuffer b, int at) {
    requireLittleEndian(b);
    int front = b.getInt(at + FRONT);
    int flags = b.get(at + FLAGS);
    return switch (kind(b, at)) {
      case FACTORIZE ->
          new Task.Factorize(
              front,
              b.getInt(at + QR_COLUMN),
              tiles(b, at, 0, b.get(at + SIZE)),
              b.getInt(at + QR_VT_WRITE),
              (flags & FLAG_FINAL) != 0);
      case APPLY, APPLY_NEAR ->
          new Task.Apply(
              front,
              b.getInt(at + QR_COLUMN),
              tiles(b, at, 0, b.get(at + SIZE)),
              b.getInt(at + QR_VT_READ),
              b.getInt(at + QR_FROM),
              b.getInt(at + QR_TO));
      case APPLY_FACTORIZE ->
          new Task.ApplyFactorize(
              front,
              b.getInt(at + QR_COLUMN),
              appliedTiles(b, at),
              b.getInt(at + QR_VT_READ),
              tiles(b, at, 1, b.get(at + SIZE)),
              b.getInt(at + QR_VT_WRITE),
              (flags & FLAG_FINAL) != 0);
      case SMALL_FRONT ->
          new Task.SmallFront(
              front,
              (flags & SMALL_ASSEMBLE_S) != 0,
              (flags & SMALL_PACK_ASSEMBLE) != 0,
              (flags & SMALL_PACK_ROWS) != 0,
              (flags & SMALL_RESIDUAL) != 0,
              b.getInt(at + OUT_ROW_TO),
              b.getInt(at + OUT_SLOT),
              b.getLong(at + OUT_OUT),
              b.getLong(at + OUT_OUT_RHS));
      case ASSEMBLE_S ->
          new Task.AssembleS(front, b.getLong(at + SCATTER_FROM), b.getLong(at + SCATTER_TO));
      case PACK_ASSEMBLE, ASSEMBLE_BLOCK -> decodePack(b, at, front);
      case PACK_ROWS ->
          new Task.PackRows(
              front,
              b.getInt(at + OUT_ROW_FROM),
              b.getInt(at + OUT_ROW_TO),
              b.getLong(at + OUT_OUT),
              b.getLong(at + OUT_OUT_RHS));
      case RESIDUAL ->
          new Task.Residual(
              front,
              b.getInt(at + OUT_ROW_FROM),
              b.getInt(at + OUT_ROW_TO),
              b.getInt(at + OUT_SLOT));
      case DROP ->
          new Task.Drop(
              front,
              b.getInt(at + SMALL_PARENT),
              b.getInt(at + OUT_SLOT),
              b.getInt(at + OUT_ROW_FROM),
              b.getInt(at + OUT_MOST),
              b.getInt(at + OUT_ROW_TO),
              b.getLong(at + OUT_OUT),
              b.getLong(at + OUT_OUT_RHS));
      case PULL ->
          new Task.Pull(front, b.getInt(at + PULL_FROM), b.getInt(at + PULL_MADE), part(b, at));
      case ANNOUNCE -> new Task.Announce(front);
      default -> throw new IllegalArgumentException("task kind " + kind(b, at) + " at byte " + at);
    };
  }

  private static Task decodePack(ByteBuffer b, int at, int front) {
    int parent = b.getInt(at + PACK_PARENT);
    int rowFrom = b.getInt(at + PACK_ROW_FROM);
    int rowTo = b.getInt(at + PACK_ROW_TO);
    int columnFrom = b.getInt(at + PACK_COLUMN_FROM);
    int columnTo = b.getInt(at + PACK_COLUMN_TO);
    return b.get(at + KIND) == PACK_ASSEMBLE
        ? new Task.PackAssemble(front, parent, rowFrom, rowTo, columnFrom, columnTo, marked(b, at))
        : new Task.AssembleBlock(front, parent, rowFrom, rowTo, columnFrom, columnTo);
  }

  private static DevicePart part(ByteBuffer b, int at) {
    int column = b.getInt(at + PULL_COLUMN);
    if (b.get(at + APPLIED) == PART_BUNDLE) {
      int[] rowTiles = tiles(b, at, 0, b.get(at + SIZE));
      return new DevicePart.Bundle(column, rowTiles, b.getInt(at + PULL_SLOT));
    }
    int rowFrom = b.getInt(at + PULL_ROW_FROM);
    int rowTo = b.getInt(at + PULL_ROW_TO);
    if (b.get(at + APPLIED) == PART_BLOCK) {
      return new DevicePart.Block(rowFrom, rowTo, column, b.getInt(at + PULL_COLUMN_TO));
    }
    var owners =
        new DevicePart.Owners(
            b.getInt(at + PULL_HOME), b.getInt(at + PULL_COUNT), b.getInt(at + PULL_WIDTH));
    return new DevicePart.Tiles(rowFrom, rowTo, column, owners);
  }

  private static int[] tiles(ByteBuffer b, int at, int from, int to) {
    int[] tile = new int[to - from];
    for (int s = from; s < to; s++) {
      tile[s - from] = b.getInt(at + QR_TILE + 4 * s);
    }
    return tile;
  }

  private static int[] appliedTiles(ByteBuffer b, int at) {
    int mask = b.get(at + APPLIED) & 0xff;
    int[] tile = new int[1 + Integer.bitCount(mask)];
    tile[0] = b.getInt(at + QR_TILE);
    int n = 1;
    for (int s = 1; s < b.get(at + SIZE); s++) {
      if ((mask >> (s - 1) & 1) != 0) {
        tile[n++] = b.getInt(at + QR_TILE + 4 * s);
      }
    }
    return tile;
  }

  static void requireLittleEndian(ByteBuffer b) {
    if (b.order() != ByteOrder.LITTLE_ENDIAN) {
      throw new IllegalArgumentException("task lists are little-endian");
    }
  }
}
