/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering.dissection;

import io.sparqr.ordering.degree.ApproximateMinimumDegree;
import io.sparqr.ordering.graph.WeightedGraph;

/**
 * Minimum-degree order of the small subgraphs where dissection stops. Exact external degrees on bit
 * sets, and the halo: neighbours outside the subgraph, all ordered later, count in the degrees
 * though they are not eliminated here (Pellegrini, Roman, Amestoy 2000). Subgraphs too large for
 * bit sets are ordered by approximate minimum degree without the halo. The object keeps scratch
 * arrays and belongs to one thread.
 */
final class LeafOrdering {
  private static final int BITSET_LIMIT = 640;

  private final WeightedGraph graph;
  private final int[] place;

  private int[] members = new int[0];
  private long[] rows = new long[0];
  private int[] degree = new int[0];
  private boolean unitWeights;

  /**
   * Prepares for subgraphs of one graph. O(n).
   *
   * @param graph the whole graph, halos included
   */
  LeafOrdering(WeightedGraph graph) {
    this.graph = graph;
    this.place = new int[graph.n];
    java.util.Arrays.fill(place, -1);
  }

  /**
   * Orders the subgraph on {@code vertex[from .. to)}, in place.
   *
   * @param vertex vertices of the whole graph; the range is permuted into elimination order
   */
  void order(int[] vertex, int from, int to) {
    int n = to - from;
    if (n < 2) {
      return;
    }
    if (n > BITSET_LIMIT) {
      orderLarge(vertex, from, n);
      return;
    }
    int total = number(vertex, from, n);
    int words = (total + 63) >>> 6;
    buildRows(n, words);
    eliminate(vertex, from, n, words);
    for (int i = 0; i < total; i++) {
      place[members[i]] = -1;
    }
  }

  /** Numbers interior vertices 0..n-1 and the halo after them; returns how many there are. */
  private int number(int[] vertex, int from, int n) {
    int edges = n;
    for (int i = 0; i < n; i++) {
      int v = vertex[from + i];
      edges += graph.degree(v);
      place[v] = i;
    }
    if (members.length < edges) {
      members = new int[edges];
    }
    System.arraycopy(vertex, from, members, 0, n);
    int total = n;
    for (int i = 0; i < n; i++) {
      int v = members[i];
      for (int e = graph.start[v]; e < graph.start[v + 1]; e++) {
        int u = graph.neighbor[e];
        if (place[u] < 0) {
          place[u] = total;
          members[total++] = u;
        }
      }
    }
    unitWeights = true;
    for (int i = 0; i < total; i++) {
      unitWeights &= graph.vertexWeight[members[i]] == 1;
    }
    return total;
  }

  private void buildRows(int n, int words) {
    if (rows.length < n * words) {
      rows = new long[n * words];
    } else {
      java.util.Arrays.fill(rows, 0, n * words, 0);
    }
    if (degree.length < n) {
      degree = new int[n];
    }
    for (int i = 0; i < n; i++) {
      int v = members[i];
      for (int e = graph.start[v]; e < graph.start[v + 1]; e++) {
        int k = place[graph.neighbor[e]];
        rows[i * words + (k >>> 6)] |= 1L << k;
      }
      degree[i] = degreeOf(i, words);
    }
  }

  private int degreeOf(int i, int words) {
    int sum = 0;
    int row = i * words;
    if (unitWeights) {
      for (int w = 0; w < words; w++) {
        sum += Long.bitCount(rows[row + w]);
      }
      return sum;
    }
    for (int w = 0; w < words; w++) {
      for (long bits = rows[row + w]; bits != 0; bits &= bits - 1) {
        sum += graph.vertexWeight[members[(w << 6) + Long.numberOfTrailingZeros(bits)]];
      }
    }
    return sum;
  }

  private void eliminate(int[] vertex, int from, int n, int words) {
    int interiorWords = (n + 63) >>> 6;
    for (int step = 0; step < n; step++) {
      int pivot = -1;
      for (int i = 0; i < n; i++) {
        if (degree[i] >= 0 && (pivot < 0 || degree[i] < degree[pivot])) {
          pivot = i;
        }
      }
      vertex[from + step] = members[pivot];
      degree[pivot] = -1;
      int pivotRow = pivot * words;
      for (int w = 0; w < interiorWords; w++) {
        long bits = rows[pivotRow + w];
        if (w == n >>> 6) {
          bits &= (1L << n) - 1;
        }
        for (; bits != 0; bits &= bits - 1) {
          int i = (w << 6) + Long.numberOfTrailingZeros(bits);
          int row = i * words;
          for (int k = 0; k < words; k++) {
            rows[row + k] |= rows[pivotRow + k];
          }
          rows[row + (i >>> 6)] &= ~(1L << i);
          rows[row + (pivot >>> 6)] &= ~(1L << pivot);
          degree[i] = degreeOf(i, words);
        }
      }
    }
  }

  private void orderLarge(int[] vertex, int from, int n) {
    int edges = 0;
    for (int i = 0; i < n; i++) {
      place[vertex[from + i]] = i;
      edges += graph.degree(vertex[from + i]);
    }
    int[] start = new int[n + 1];
    int[] adjacent = new int[edges];
    int[] weight = new int[n];
    int[] original = java.util.Arrays.copyOfRange(vertex, from, from + n);
    int end = 0;
    for (int i = 0; i < n; i++) {
      int v = original[i];
      weight[i] = graph.vertexWeight[v];
      for (int e = graph.start[v]; e < graph.start[v + 1]; e++) {
        int k = place[graph.neighbor[e]];
        if (k >= 0) {
          adjacent[end++] = k;
        }
      }
      start[i + 1] = end;
    }
    int[] order =
        ApproximateMinimumDegree.order(n, start, java.util.Arrays.copyOf(adjacent, end), weight);
    for (int i = 0; i < n; i++) {
      vertex[from + i] = original[order[i]];
      place[original[i]] = -1;
    }
  }
}
