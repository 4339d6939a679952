/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.gram;

/** The rows of a front, in pieces that share their columns. May be read by several threads. */
public interface RowPieces {

  /** Number of pieces. */
  int count();

  /** Points the view at piece p, p in [0, count). */
  void piece(int p, RowPiece view);
}
