/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

/**
 * One task of a round's list: a unit of work for one thread block. Tiles are 32 x 32; a bundle is
 * an ascending list of row tiles, its first one the row tile that becomes upper triangular (SQR
 * section 3.1). VT slots hold the T matrix and the top V tile of a factorized bundle: written in
 * one round, read by the Apply tasks of the next one, free afterwards.
 *
 * <p>These records are the readable view of the binary list ({@link TaskLayout}); the scheduler
 * writes the list without them. The plain Java executor of the same lists specifies what each task
 * computes.
 */
public sealed interface Task {

  /** The front, numbered within its stage. */
  int front();

  /**
   * Factorizes column tile {@code column} of a bundle: R into the first row tile, V below, VT to a
   * slot.
   *
   * @param vtSlot -1 if there is nothing to the right
   * @param last whether the first row tile's triangle becomes final, so that its pivots are tested
   */
  record Factorize(int front, int column, int[] bundle, int vtSlot, boolean last) implements Task {}

  /**
   * Applies the reflectors in {@code vtSlot} (of column tile {@code column}) to column tiles [from,
   * to) of the bundle.
   */
  record Apply(int front, int column, int[] bundle, int vtSlot, int from, int to) implements Task {}

  /**
   * Applies a bundle's reflectors to column tile {@code column + 1}, then factorizes that tile of
   * the next bundle: the applied bundle without its first row tile, and the idle row tiles of the
   * delta.
   */
  record ApplyFactorize(
      int front,
      int column,
      int[] bundle,
      int vtSlot,
      int[] nextBundle,
      int nextVtSlot,
      boolean last)
      implements Task {}

  /** Scatters packed entries [from, to) of the stage's S list into a front. */
  record AssembleS(int front, long from, long to) implements Task {}

  /**
   * Copies rows [rowFrom, rowTo) and columns [columnFrom, columnTo) of a child's block (the entries
   * with column at least row) to its parent; columns count the tail, then the right-hand sides.
   *
   * @param crossing in a list for several devices: the front is not one that has the same single
   *     device as its parent. Its DROP tasks have not passed a block on, so this task does
   */
  record PackAssemble(
      int front, int parent, int rowFrom, int rowTo, int columnFrom, int columnTo, boolean crossing)
      implements Task {}

  /** As above, from a packed block that came from outside the stage; front() is the receiver. */
  record AssembleBlock(int block, int parent, int rowFrom, int rowTo, int columnFrom, int columnTo)
      implements Task {
    @Override
    public int front() {
      return parent;
    }
  }

  /**
   * A whole small front: S-assembly if requested, factorization, then as requested: contribution
   * block into the parent, rows [0, rows) to the output buffer, residual to a slot.
   */
  record SmallFront(
      int front,
      boolean assembleS,
      boolean packAssemble,
      boolean packRows,
      boolean residual,
      int rows,
      int slot,
      long out,
      long outRhs)
      implements Task {}

  /** Copies final rows [rowFrom, rowTo) of a front, packed, to the output buffer. */
  record PackRows(int front, int rowFrom, int rowTo, long out, long outRhs) implements Task {}

  /**
   * Drops the dead columns of a front whose other tasks are finished, takes in leftover rows that
   * its children passed on beyond the plan, and passes on what a sound front has already passed on:
   * rows [0, rows) to the output buffer, the block to the parent. Leftover rows go to the parent
   * from the front's last row, or at once from its last pivot. Does nothing for a sound front. A
   * front has several such tasks; the executor decides how they share the work.
   *
   * @param parent -1: none in the stage
   * @param slot residual slot for additional right-hand sides that end here; -1: none
   * @param vtFrom the first VT slot available to these tasks
   * @param most at most this many leftover rows go to the parent from the last pivot (its tile's
   *     last column); if there are more, the rest of the front takes them in
   */
  record Drop(
      int front, int parent, int slot, int vtFrom, int most, int rows, long out, long outRhs)
      implements Task {}

  /**
   * Takes a part of the front from another device, once that has made this many announcements of
   * the front; a bundle counts as a chain task here, anything else as a bulk task. Only in lists
   * for several devices.
   *
   * @param from device that has the values
   * @param made announcements of the front on {@code from} that must have been made
   */
  record Pull(int front, int from, int made, DevicePart part) implements Task {}

  /**
   * Announces to other devices that this one has done for the front all that its counts ask for.
   */
  record Announce(int front) implements Task {}

  /** Sums the squares of the right-hand sides of rows [rowFrom, rowTo) into residual[slot]. */
  record Residual(int front, int rowFrom, int rowTo, int slot) implements Task {}
}
