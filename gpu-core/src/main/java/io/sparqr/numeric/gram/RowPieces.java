/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.gram;

/**
 * The rows of a tree of fronts, in pieces that share their columns, by front: a piece belongs to
 * the first front that has one of its columns as a pivot, and its columns are columns of that
 * front. May be read by several threads.
 */
public interface RowPieces {

  /** Number of pieces. */
  int count();

  /** Points the view at piece p, p in [0, count). */
  void piece(int p, RowPiece view);

  /** The first piece of front k; for the number of fronts, {@link #count}. */
  default int start(int k) {
    return k == 0 ? 0 : count();
  }
}
