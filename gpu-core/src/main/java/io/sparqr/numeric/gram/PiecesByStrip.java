/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.gram;

import java.util.Arrays;

/**
 * Which pieces have columns in which strip of a Gram matrix, in their order: of ten million rows
 * with a few columns each, hardly any is of interest to one of eighty strips. Four bytes for each
 * piece and strip; a matrix of few strips has no lists, each of its strips looks at all pieces.
 */
final class PiecesByStrip {

  /** Strips that look at all pieces. */
  private static final int FEW = 8;

  private final int count;

  /** By strip: where its pieces begin in the list; empty: there is no list. */
  private final int[] start;

  private final int[] list;

  /**
   * Lists.
   *
   * @param place by column of the pieces: that of the front
   * @param stripOf by column of the front
   */
  PiecesByStrip(RowPieces pieces, int[] place, int[] stripOf, int strips) {
    count = pieces.count();
    long[] end = new long[strips + 1];
    if (strips > FEW) {
      each(pieces, place, stripOf, (p, strip) -> end[strip + 1]++);
    }
    for (int s = 0; s < strips; s++) {
      end[s + 1] += end[s];
    }
    if (strips <= FEW || end[strips] > Integer.MAX_VALUE - 8) {
      start = new int[0];
      list = start;
      return;
    }
    start = Arrays.stream(end).mapToInt(e -> (int) e).toArray();
    int[] next = start.clone();
    int[] pieceOf = new int[start[strips]];
    each(pieces, place, stripOf, (p, strip) -> pieceOf[next[strip]++] = p);
    list = pieceOf;
  }

  private interface Meeting {
    void of(int piece, int strip);
  }

  private static void each(RowPieces pieces, int[] place, int[] stripOf, Meeting meeting) {
    var piece = new RowPiece();
    for (int p = 0; p < pieces.count(); p++) {
      pieces.piece(p, piece);
      int before = -1;
      for (int k = 0; k < piece.columns; k++) {
        int strip = stripOf[place[piece.column[piece.columnFrom + k]]];
        if (strip != before) {
          meeting.of(p, strip);
          before = strip;
        }
      }
    }
  }

  /** Number of pieces that a strip has to look at. */
  int count(int strip) {
    return start.length == 0 ? count : start[strip + 1] - start[strip];
  }

  /** Of these the k-th. */
  int piece(int strip, int k) {
    return start.length == 0 ? k : list[start[strip] + k];
  }
}
