/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * The climb through the row subtrees that fills the fronts' tails ({@link FrontStructure}). A
 * column of a subtree meets fronts of that subtree only, so that subtrees are walked in parallel.
 * For the columns above them, the top, the part of the climb below the top is left to the subtrees
 * as well; only the climb within the top, of few fronts, is serial.
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

  /** Size ranges+1; the edges from columns of the top into a range of subtrees. */
  private final int[] edgeStart;

  /** The larger ends of these edges by range, ascending in each, and the fronts of the others. */
  private int[] edgeColumn;

  private int[] edgeFront;

  /** Size nf; the front of the top that a climb reaches first, a front of the top itself. */
  private final int[] exit;

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
    exit = new int[nf];
    edgeStart = new int[subtrees.count + 1];
  }

  void run() {
    collectEdges();
    IntStream.range(0, subtrees.count).parallel().forEach(this::walkRange);
    for (int f = 0; f < fronts.count; f++) {
      if (subtrees.rangeOf[f] < 0) {
        walkTop(f);
      }
    }
    for (int f = 0; f < fronts.count; f++) {
      if (next[f] != tailStart[f + 1]) {
        throw new IllegalStateException("column counts disagree with the tail of front " + f);
      }
    }
  }

  /** Sorts the edges from columns of the top into ranges by range. */
  private void collectEdges() {
    int nf = fronts.count;
    for (int f = nf - 1; f >= 0; f--) {
      boolean top = subtrees.rangeOf[f] < 0 || fronts.parent[f] < 0;
      exit[f] = top ? f : exit[fronts.parent[f]];
    }
    for (int f = 0; f < nf; f++) {
      if (subtrees.rangeOf[f] < 0) {
        edges(f, null);
      }
    }
    for (int r = 0; r < subtrees.count; r++) {
      edgeStart[r + 1] += edgeStart[r];
    }
    edgeColumn = new int[edgeStart[subtrees.count]];
    edgeFront = new int[edgeColumn.length];
    int[] at = edgeStart.clone();
    for (int f = 0; f < nf; f++) {
      if (subtrees.rangeOf[f] < 0) {
        edges(f, at);
      }
    }
  }

  /** Counts the edges of a front of the top by range, or, with places given, enters them. */
  private void edges(int top, int[] at) {
    for (int x = fronts.pivotStart[top]; x < fronts.pivotStart[top + 1]; x++) {
      int label = labelOfPlace[x];
      for (int k = graph.lowStart[label]; k < graph.lowStart[label + 1]; k++) {
        int f = frontOfLabel[graph.low[k]];
        int range = subtrees.rangeOf[f];
        if (range >= 0 && at == null) {
          edgeStart[range + 1]++;
        } else if (range >= 0) {
          edgeColumn[at[range]] = x;
          edgeFront[at[range]++] = f;
        }
      }
    }
  }

  private void walkRange(int range) {
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
    for (int e = edgeStart[range]; e < edgeStart[range + 1]; e++) {
      int x = edgeColumn[e];
      for (int f = edgeFront[e]; subtrees.rangeOf[f] >= 0 && seen[f] != x + 1; ) {
        seen[f] = x + 1;
        tailColumns[next[f]++] = x;
        f = fronts.parent[f];
      }
    }
  }

  private void walkTop(int top) {
    for (int x = fronts.pivotStart[top]; x < fronts.pivotStart[top + 1]; x++) {
      int label = labelOfPlace[x];
      seen[top] = x + 1;
      for (int k = graph.lowStart[label]; k < graph.lowStart[label + 1]; k++) {
        int below = exit[frontOfLabel[graph.low[k]]];
        for (int f = below; seen[f] != x + 1; f = fronts.parent[f]) {
          seen[f] = x + 1;
          tailColumns[next[f]++] = x;
        }
      }
    }
  }
}
