/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

/**
 * One task of a round's list: what one thread block does at a time. Tiles are 32 x 32; a bundle is
 * an ascending list of row tiles, its first one the row tile that becomes upper triangular (SQR
 * section 3.1). VT slots hold the T matrix and the top V tile of a factorized bundle: written in
 * one round, read by the Apply tasks of the next one, free when these are done.
 *
 * <p>These records are the readable view of the binary list ({@link TaskLayout}); the scheduler
 * writes the list without them. What each of them computes is specified by the plain Java executor
 * of the same lists.
 */
public sealed interface Task {

  /** The front, numbered within its stage. */
  int front();

  /**
   * Factorizes column tile {@code column} of a bundle: R into the first row tile, V below, VT to a
   * slot.
   *
   * @param vtSlot -1 if there is nothing to the right
   * @param last whether the first row tile's triangle is final now: its pivots are tested
   */
  record Factorize(int front, int column, int[] bundle, int vtSlot, boolean last) implements Task {}

  /**
   * Applies the reflectors in {@code vtSlot} (made by factorizing {@code column}) to column tiles
   * [from, to) of the bundle.
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
   */
  record PackAssemble(int front, int parent, int rowFrom, int rowTo, int columnFrom, int columnTo)
      implements Task {}

  /** The same from a packed block that came from outside the stage; front() is the receiver. */
  record AssembleBlock(int block, int parent, int rowFrom, int rowTo, int columnFrom, int columnTo)
      implements Task {
    @Override
    public int front() {
      return parent;
    }
  }

  /**
   * A small front whole: S-assembly if asked, factorization, then what is asked of: contribution
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
   * Drops the dead columns of a front that its other tasks have finished, takes in the rows that
   * its children passed on beyond their plans, and hands on what a sound front has handed on by
   * then: rows [0, rows) to the output buffer, the block to the parent. Nothing to do for a sound
   * front. A front has several such tasks; how they share the work is the executor's affair.
   *
   * @param parent -1: none in the stage
   * @param slot residual slot for the right-hand sides that end here besides the planned ones; -1:
   *     none
   * @param vtFrom the first of the VT slots that these tasks may use
   */
  record Drop(int front, int parent, int slot, int vtFrom, int rows, long out, long outRhs)
      implements Task {}

  /** Sums the squares of the right-hand sides of rows [rowFrom, rowTo) into residual[slot]. */
  record Residual(int front, int rowFrom, int rowTo, int slot) implements Task {}
}
