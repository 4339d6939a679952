/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

import java.util.Arrays;

/**
 * The rounds of one front, in compact form: Apply tasks are not yet cut into column ranges and VT
 * slots are numbered within the round, because both depend on the other tasks of the round. Built
 * by {@link BucketScheduler}, then immutable.
 *
 * <p>An operation is {@code HEAD + size} ints: head (kind, size, applied mask, flags), the column
 * tile, the slot read (as the previous round numbered it), the slot written, the row tiles. An
 * operation with reflectors to apply stands for Apply tasks on all column tiles to the right,
 * except the one taken by its Factorize part.
 */
public final class FrontSchedule {

  static final int HEAD = 4;

  final int rowTiles;
  final int pivotTiles;
  final int columnTiles;
  private int rounds;
  private int[] op = new int[64];
  private int length;
  private int[] opStart = new int[16];
  private int[] writes = new int[16];

  /** size pivotTiles, ascending; the last round that writes row tiles 0 .. k. */
  final int[] doneRound;

  FrontSchedule(int rowTiles, int pivotTiles, int columnTiles) {
    this.rowTiles = rowTiles;
    this.pivotTiles = pivotTiles;
    this.columnTiles = columnTiles;
    doneRound = new int[pivotTiles];
    Arrays.fill(doneRound, -1);
  }

  /** Number of rounds. */
  public int rounds() {
    return rounds;
  }

  /** First operation of a round; for round = rounds(), the end. */
  public int opStart(int round) {
    return opStart[round];
  }

  /** VT slots that a round writes. */
  public int writes(int round) {
    return writes[round];
  }

  int kind(int at) {
    return op[at] & 0xff;
  }

  /** Row tiles of the operation. */
  public int size(int at) {
    return op[at] >> 8 & 0xff;
  }

  int applied(int at) {
    return op[at] >> 16 & 0xff;
  }

  int flags(int at) {
    return op[at] >>> 24;
  }

  int column(int at) {
    return op[at + 1];
  }

  int readSlot(int at) {
    return op[at + 2];
  }

  /** The slot that it writes, numbered within its round, or -1. */
  public int writeSlot(int at) {
    return op[at + 3];
  }

  /** Its row tile s. */
  public int tile(int at, int s) {
    return op[at + HEAD + s];
  }

  /** The operation after this one. */
  public int next(int at) {
    return at + HEAD + size(at);
  }

  /** First column tile of the operation's Apply tasks, or columnTiles if there are none. */
  int applyFrom(int at) {
    return switch (kind(at)) {
      case TaskLayout.APPLY -> column(at) + 1;
      case TaskLayout.APPLY_FACTORIZE -> column(at) + 2;
      default -> columnTiles;
    };
  }

  /** Column tile that the operation factorizes, or -1. */
  public int factorized(int at) {
    return switch (kind(at)) {
      case TaskLayout.FACTORIZE -> column(at);
      case TaskLayout.APPLY_FACTORIZE -> column(at) + 1;
      default -> -1;
    };
  }

  /** The next column tile of the operation's bundle; operations of a round ascend by it. */
  int nextColumn(int at) {
    return column(at) + (kind(at) == TaskLayout.APPLY_FACTORIZE ? 2 : 1);
  }

  /** Row tiles in the bundle that the operation factorizes, from index {@link #bundleFrom}. */
  public int bundleFrom(int at) {
    return kind(at) == TaskLayout.APPLY_FACTORIZE ? 1 : 0;
  }

  /** Appends an operation to the current round; returns its place. */
  int add(int kind, int column, int read, int write, int applied, int flags, int[] tile, int size) {
    if (length + HEAD + size > op.length) {
      op = Arrays.copyOf(op, Math.max(2 * op.length, length + HEAD + size));
    }
    int at = length;
    op[at] = kind | size << 8 | applied << 16 | flags << 24;
    op[at + 1] = column;
    op[at + 2] = read;
    op[at + 3] = write;
    System.arraycopy(tile, 0, op, at + HEAD, size);
    length += HEAD + size;
    return at;
  }

  /** Ends the current round. */
  void endRound(int slotsWritten) {
    if (rounds + 2 > opStart.length) {
      opStart = Arrays.copyOf(opStart, 2 * opStart.length);
      writes = Arrays.copyOf(writes, 2 * writes.length);
    }
    writes[rounds] = slotsWritten;
    rounds++;
    opStart[rounds] = length;
  }

  /** Ends the last round. */
  void finish() {
    op = Arrays.copyOf(op, length);
    // A row tile that starts to the right of the one above it can be finished before that one.
    for (int k = 1; k < pivotTiles; k++) {
      doneRound[k] = Math.max(doneRound[k], doneRound[k - 1]);
    }
  }

  int length() {
    return length;
  }
}
