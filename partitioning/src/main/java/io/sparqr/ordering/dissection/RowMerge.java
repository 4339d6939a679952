/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering.dissection;

import io.sparqr.jvm.JvmPart;
import io.sparqr.ordering.graph.WeightedGraph;
import java.util.Arrays;

/**
 * Rows of a coarse graph in the making, one after another; a thread keeps one object for all its
 * contractions. Neighbours that come twice are found by their last place, which is valid if it lies
 * in the row being written; places go on growing from one use to the next, so that they need not be
 * cleared.
 */
final class RowMerge {
  private static final JvmPart<ThreadLocal<RowMerge>> OF_THREAD =
      JvmPart.of("merged rows", () -> ThreadLocal.withInitial(() -> new RowMerge(1)));

  private static final int[] NONE = {};

  /** Arrays of the caller; none between uses. */
  private int[] neighbor = NONE;

  private int[] weight = NONE;

  /** By coarse vertex, where it was last written, plus the base of that use. */
  private int[] place = {};

  /** Added to places of this use; may be negative. */
  private int base;

  /** All places of earlier uses are less. */
  private int unused;

  private int end;

  /** Where the row being written starts, plus the base. */
  private int rowPlace;

  /**
   * Rows with places from a given one on.
   *
   * @param unused positive
   */
  RowMerge(int unused) {
    this.unused = unused;
  }

  /** This thread's object. */
  static RowMerge ofThread() {
    return OF_THREAD.get().get();
  }

  /**
   * Forgets all rows and begins to write others. {@link #finish} must follow.
   *
   * @param vertices number of coarse vertices
   * @param entries that the rows have at most before doubles are merged
   * @param neighbor receives the neighbours, from {@code first} on; needs room for one more
   * @param weight receives the weights of their edges
   */
  void begin(int vertices, int entries, int[] neighbor, int[] weight, int first) {
    if (place.length < vertices) {
      place = new int[vertices];
    }
    if (unused >= Integer.MAX_VALUE - 2 - entries) {
      Arrays.fill(place, 0);
      unused = 1;
    }
    this.neighbor = neighbor;
    this.weight = weight;
    base = unused - first;
    end = first;
  }

  /** Lets go of the arrays; returns the end of the last row. */
  int finish() {
    unused = base + end + 1;
    neighbor = NONE;
    weight = NONE;
    return end;
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
