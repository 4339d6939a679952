/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

/**
 * One task of a round's list: what one thread block does between two launches. Tiles are 32 x 32; a
 * bundle is an ascending list of row tiles, its first one the row tile that becomes upper
 * triangular (SQR section 3.1). VT slots hold the T matrix and the top V tile of a factorized
 * bundle, from its Factorize until its Apply tasks are done.
 */
public sealed interface Task {

  /** The front, numbered within its stage. */
  int front();

  /**
   * Factorizes column tile {@code column} of a bundle: R into the first row tile, V below, VT to a
   * slot.
   */
  record Factorize(int front, int column, int[] bundle, int vtSlot) implements Task {}

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
      int front, int column, int[] bundle, int vtSlot, int[] nextBundle, int nextVtSlot)
      implements Task {}

  /** Scatters packed entries [from, to) of the stage's S list into a front. */
  record AssembleS(int front, long from, long to) implements Task {}

  /**
   * Copies rows [rowFrom, rowTo) and columns [columnFrom, columnTo) of a child's block to its
   * parent.
   */
  record PackAssemble(int front, int parent, int rowFrom, int rowTo, int columnFrom, int columnTo)
      implements Task {}

  /** Factorizes a small front whole. */
  record SmallFront(int front) implements Task {}
}
