/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import io.sparqr.threads.ParallelLoop;
import java.util.Arrays;

/**
 * The climb through the row subtrees that fills the fronts' tails ({@link FrontStructure}). A
 * column of a subtree meets fronts of that subtree only, so that subtrees are walked in parallel.
 * For the columns above them, the top, the part of the climb below the top is left to the subtrees
 * as well, and the climb within the top comes first ({@link TopWalk}).
 */
final class Walk {

  private final StarGraph graph;
  private final FrontTree fronts;
  private final Subtrees subtrees;
  private final int[] frontOfLabel;
  private final int[] labelOfPlace;
  private final int[] tailStart;
  private final int[] tailColumns;

  /** Size nf; where the next column of a front goes. */
  private final int[] next;

  /** Size nf; the last column that met the front, + 1. */
  private final int[] seen;

  /**
   * Prepares the walk.
   *
   * @param frontOfLabel size n
   * @param labelOfPlace size n
   * @param tailStart size nf+1
   * @param tailColumns size tailStart[nf]; filled
   */
  Walk(
      StarGraph graph,
      FrontTree fronts,
      Subtrees subtrees,
      int[] frontOfLabel,
      int[] labelOfPlace,
      int[] tailStart,
      int[] tailColumns) {
    this.graph = graph;
    this.fronts = fronts;
    this.subtrees = subtrees;
    this.frontOfLabel = frontOfLabel;
    this.labelOfPlace = labelOfPlace;
    this.tailStart = tailStart;
    this.tailColumns = tailColumns;
    int nf = fronts.count;
    next = Arrays.copyOf(tailStart, nf);
    seen = new int[nf];
  }

  void run() {
    run(0);
  }

  /** With the columns of the top in this many pieces; 0: in as many as pay. */
  void run(int pieces) {
    var top =
        new TopWalk(
            graph, fronts, subtrees, frontOfLabel, labelOfPlace, tailStart, tailColumns, pieces);
    ParallelLoop.onAll(subtrees.count, r -> walkRange(r, top));
    for (int f = 0; f < fronts.count; f++) {
      if (subtrees.rangeOf[f] >= 0 && next[f] != tailStart[f + 1]) {
        throw disagreement(f);
      }
    }
  }

  static IllegalStateException disagreement(int front) {
    return new IllegalStateException("column counts disagree with the tail of front " + front);
  }

  private void walkRange(int range, TopWalk top) {
    int to = fronts.pivotStart[subtrees.end[range]];
    for (int x = fronts.pivotStart[subtrees.first[range]]; x < to; x++) {
      int label = labelOfPlace[x];
      seen[frontOfLabel[label]] = x + 1;
      for (int k = graph.lowStart[label]; k < graph.lowStart[label + 1]; k++) {
        for (int f = frontOfLabel[graph.low[k]]; seen[f] != x + 1; f = fronts.parent[f]) {
          seen[f] = x + 1;
          tailColumns[next[f]++] = x;
        }
      }
    }
    for (int e = top.edgeStart[range]; e < top.edgeStart[range + 1]; e++) {
      int x = top.edgeColumn[e];
      for (int f = top.edgeFront[e]; subtrees.rangeOf[f] >= 0 && seen[f] != x + 1; ) {
        seen[f] = x + 1;
        tailColumns[next[f]++] = x;
        f = fronts.parent[f];
      }
    }
  }
}
