/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering;

import java.util.Arrays;

/**
 * Rows of a coarse graph in the making, one after another; a thread keeps one object for all its
 * contractions. Neighbours that come twice are found by their last place, which is valid if it lies
 * in the row being written; places go on growing from one use to the next, so that the array need
 * not be cleared.
 */
final class RowMerge {
  private static final ThreadLocal<RowMerge> OF_THREAD =
      ThreadLocal.withInitial(() -> new RowMerge(1));

  private int[] neighbor = new int[1024];
  private int[] weight = new int[1024];

  /** By coarse vertex, where it was last written, plus the base of that use. */
  private int[] place = new int[1024];

  /** Added to places of this use; all places of earlier uses are less. */
  private int base;

  private int end;

  /** Where the row being written starts, plus the base. */
  private int rowPlace;

  /**
   * Rows with places from a given one on.
   *
   * @param base positive
   */
  RowMerge(int base) {
    this.base = base;
  }

  /** This thread's object. */
  static RowMerge ofThread() {
    return OF_THREAD.get();
  }

  /** Forgets all rows and makes room for so many entries of so many coarse vertices. */
  void begin(int vertices, int entries) {
    if (place.length < vertices) {
      place = new int[vertices + (vertices >> 2)];
    }
    if (neighbor.length <= entries) {
      neighbor = new int[entries + (entries >> 2) + 1];
      weight = new int[neighbor.length];
    }
    if (base >= Integer.MAX_VALUE - 2 - end - entries) {
      Arrays.fill(place, 0);
      base = 1;
    } else {
      base += end + 1;
    }
    end = 0;
  }

  /** Neighbours of all rows so far; longer than needed. */
  int[] neighbor() {
    return neighbor;
  }

  /** The weights of their edges. */
  int[] weight() {
    return weight;
  }

  /** End of the last row. */
  int end() {
    return end;
  }

  /** Starts the row of a coarse vertex with the vertex itself, which takes up inner edges. */
  void startRow(int c) {
    rowPlace = base + end;
    place[c] = rowPlace;
    neighbor[end] = c;
    weight[end++] = 0;
  }

  /** Puts the row's last entry where the vertex itself was. */
  void endRow() {
    int first = rowPlace - base;
    end--;
    neighbor[first] = neighbor[end];
    weight[first] = weight[end];
    // its old place may be the first of the next row
    place[neighbor[end]] = rowPlace - 1;
  }

  /** Adds the edges of a fine vertex to the row, without branches that would go at random. */
  void add(WeightedGraph g, int v, int[] map) {
    int[] fineNeighbor = g.neighbor;
    int[] fineWeight = g.edgeWeight;
    int[] outNeighbor = neighbor;
    int[] outWeight = weight;
    int[] last = place;
    int first = rowPlace;
    int zero = base;
    int tail = end;
    int fineEnd = g.start[v + 1];
    for (int e = g.start[v]; e < fineEnd; e++) {
      int k = map[fineNeighbor[e]];
      int before = last[k];
      int isNew = (before - first) >> 31;
      int at = (tail & isNew) | ((before - zero) & ~isNew);
      last[k] = zero + at;
      outNeighbor[at] = k;
      outWeight[at] = fineWeight[e] + (outWeight[at] & ~isNew);
      tail -= isNew;
    }
    end = tail;
  }
}
