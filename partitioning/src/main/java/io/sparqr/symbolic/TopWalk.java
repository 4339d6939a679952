/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import io.sparqr.threads.ParallelLoop;
import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * The part of the {@link Walk} that begins at columns of the top. Threads share its columns; each
 * piece of them counts what it meets, which gives it places of its own, and then enters it there.
 */
final class TopWalk {

  /** Columns per piece at least: some 100 microseconds. */
  private static final int LEAST_COLUMNS = 128;

  private static final int MOST_PIECES = 64;

  private final StarGraph graph;
  private final Subtrees subtrees;
  private final int[] frontOfLabel;
  private final int[] labelOfPlace;

  /** The fronts of the top, ascending; known by their places here, below: by number. */
  private final int[] front;

  /** By number; its parent's, or -1. */
  private final int[] parent;

  /** Size nf; the number of the front of the top that a climb reaches first. */
  private final int[] exit;

  /** The columns of the top by place, ascending, and the numbers of their fronts. */
  private final int[] column;

  private final int[] frontOfColumn;

  /** Size ranges+1; the edges from columns of the top into a range of subtrees. */
  final int[] edgeStart;

  /** The larger ends of these edges by range, ascending in each, and the fronts of the others. */
  final int[] edgeColumn;

  final int[] edgeFront;

  /**
   * Walks.
   *
   * @param frontOfLabel size n
   * @param labelOfPlace size n
   * @param tailStart size nf+1
   * @param tailColumns size tailStart[nf]; the tails of the top's fronts are filled
   * @param pieces of the columns; 0: as many as pay
   * @throws IllegalStateException if a tail has another size
   */
  TopWalk(
      StarGraph graph,
      FrontTree fronts,
      Subtrees subtrees,
      int[] frontOfLabel,
      int[] labelOfPlace,
      int[] tailStart,
      int[] tailColumns,
      int pieces) {
    this.graph = graph;
    this.subtrees = subtrees;
    this.frontOfLabel = frontOfLabel;
    this.labelOfPlace = labelOfPlace;
    int nf = fronts.count;
    front = IntStream.range(0, nf).filter(f -> subtrees.rangeOf[f] < 0).toArray();
    int[] number = new int[nf];
    for (int t = 0; t < front.length; t++) {
      number[front[t]] = t;
    }
    parent = new int[front.length];
    for (int t = 0; t < front.length; t++) {
      int p = fronts.parent[front[t]];
      parent[t] = p < 0 ? -1 : number[p];
    }
    exit = number;
    for (int f = nf - 1; f >= 0; f--) {
      if (subtrees.rangeOf[f] >= 0) {
        exit[f] = fronts.parent[f] < 0 ? -1 : exit[fronts.parent[f]];
      }
    }
    int columns = 0;
    for (int f : front) {
      columns += fronts.pivotStart[f + 1] - fronts.pivotStart[f];
    }
    column = new int[columns];
    frontOfColumn = new int[columns];
    int k = 0;
    for (int t = 0; t < front.length; t++) {
      for (int x = fronts.pivotStart[front[t]]; x < fronts.pivotStart[front[t] + 1]; x++) {
        frontOfColumn[k] = t;
        column[k++] = x;
      }
    }
    int paying = Math.max(1, Math.min(MOST_PIECES, columns / LEAST_COLUMNS));
    Piece[] piece = pieces(pieces == 0 ? paying : pieces);
    ParallelLoop.onAll(piece.length, p -> piece[p].walk(false, tailColumns));
    edgeStart = new int[subtrees.count + 1];
    place(piece, tailStart);
    edgeColumn = new int[edgeStart[subtrees.count]];
    edgeFront = new int[edgeColumn.length];
    ParallelLoop.onAll(piece.length, p -> piece[p].walk(true, tailColumns));
  }

  private Piece[] pieces(int count) {
    var piece = new Piece[count];
    for (int p = 0; p < count; p++) {
      piece[p] =
          new Piece(
              (int) ((long) column.length * p / count),
              (int) ((long) column.length * (p + 1) / count));
    }
    return piece;
  }

  /** Turns the pieces' counts into places: in each range and tail one piece after the other. */
  private void place(Piece[] piece, int[] tailStart) {
    int at = 0;
    for (int r = 0; r < subtrees.count; r++) {
      for (Piece p : piece) {
        int count = p.edges[r];
        p.edges[r] = at;
        at += count;
      }
      edgeStart[r + 1] = at;
    }
    for (int t = 0; t < front.length; t++) {
      at = tailStart[front[t]];
      for (Piece p : piece) {
        int count = p.tail[t];
        p.tail[t] = at;
        at += count;
      }
      if (at != tailStart[front[t] + 1]) {
        throw Walk.disagreement(front[t]);
      }
    }
  }

  /** Columns from .. to-1 of the top. */
  private final class Piece {

    private final int from;
    private final int to;

    /** By range; the number of edges, then the place of the next one. */
    private final int[] edges = new int[subtrees.count];

    /** By number of the front; the number of columns in its tail, then the place of the next. */
    private final int[] tail = new int[front.length];

    /** By number of the front; the last column that met it, + 1. */
    private final int[] seen = new int[front.length];

    Piece(int from, int to) {
      this.from = from;
      this.to = to;
    }

    /** Counts what the columns meet, or enters it at the places. */
    void walk(boolean enters, int[] tailColumns) {
      Arrays.fill(seen, 0);
      for (int c = from; c < to; c++) {
        int x = column[c];
        int label = labelOfPlace[x];
        seen[frontOfColumn[c]] = x + 1;
        for (int k = graph.lowStart[label]; k < graph.lowStart[label + 1]; k++) {
          int f = frontOfLabel[graph.low[k]];
          int range = subtrees.rangeOf[f];
          if (range >= 0) {
            int e = edges[range]++;
            if (enters) {
              edgeColumn[e] = x;
              edgeFront[e] = f;
            }
          }
          for (int t = exit[f]; seen[t] != x + 1; t = parent[t]) {
            seen[t] = x + 1;
            int at = tail[t]++;
            if (enters) {
              tailColumns[at] = x;
            }
          }
        }
      }
    }
  }
}
