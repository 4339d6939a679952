/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering;

import java.util.Arrays;

/**
 * Separators of the uncoarsened graph from distances to peripheral vertices (George and Liu 1978,
 * level structures): the half of the weight nearest to one end, nearest to the other, or closest to
 * one relative to the other. Coarsening by random matchings blurs the metric of a mesh; distances
 * keep it. On a k^3 grid with seven-point stencil they find the hexagon of 3/4 k^2 vertices across
 * the diagonal, where multilevel refinement stops at k^2. Each candidate is refined; O(n + entries)
 * without the refinement.
 */
final class DistanceSeparators {
  /** Number of candidates of {@link #candidate}. */
  static final int CANDIDATES = 3;

  private int[] fromFirst = new int[0];
  private int[] fromSecond = new int[0];
  private int[] queue = new int[0];

  /** Searches from a vertex; returns false if that does not find the whole graph. */
  boolean connected(WeightedGraph g, int from) {
    reserve(g.n);
    return search(g, from, fromFirst) == g.n;
  }

  /**
   * Takes the distances from two ends of a graph found {@link #connected}: the vertex farthest from
   * the start of that search, and the one farthest from this.
   */
  void measure(WeightedGraph g) {
    search(g, queue[g.n - 1], fromFirst);
    search(g, queue[g.n - 1], fromSecond);
  }

  private void reserve(int n) {
    if (queue.length < n) {
      fromFirst = new int[n];
      fromSecond = new int[n];
      queue = new int[n];
    }
  }

  /**
   * Writes a candidate into a state. Several threads may call it at once after the distances
   * are taken.
   *
   * @param which 0: nearest to the first end, 1: to the second, 2: by the difference
   * @param heaviest a heavier candidate is not worth refining
   * @param state bound to g
   * @return false, with the state undefined, if it is not worth refining
   */
  boolean candidate(WeightedGraph g, int which, long heaviest, SeparatorState state) {
    int[] plus = which == 1 ? fromSecond : fromFirst;
    int[] minus = which == 2 ? fromSecond : null;
    int lowest = Integer.MAX_VALUE;
    int highest = Integer.MIN_VALUE;
    int[] part = state.part;
    for (int v = 0; v < g.n; v++) {
      int d = minus == null ? plus[v] : plus[v] - minus[v];
      part[v] = d;
      lowest = Math.min(lowest, d);
      highest = Math.max(highest, d);
    }
    int cut = medianKey(g, part, lowest, highest);
    for (int v = 0; v < g.n; v++) {
      part[v] = part[v] < cut ? 0 : 1;
    }
    // along an edge a distance changes by one at most, a difference of two distances by two
    int reach = minus == null ? 1 : 2;
    long weight = 0;
    for (int v = 0; v < g.n; v++) {
      if (part[v] != 0 || plus[v] - (minus == null ? 0 : minus[v]) < cut - reach) {
        continue;
      }
      for (int e = g.start[v]; e < g.start[v + 1]; e++) {
        int u = g.neighbor[e];
        if (part[u] == 1) {
          part[u] = SeparatorState.SEPARATOR;
          weight += g.vertexWeight[u];
        }
      }
    }
    if (weight > heaviest) {
      return false;
    }
    state.recompute();
    return true;
  }

  /** The key at which the weight below it comes nearest to half. */
  private static int medianKey(WeightedGraph g, int[] key, int lowest, int highest) {
    int[] weight = new int[highest - lowest + 1];
    for (int v = 0; v < g.n; v++) {
      weight[key[v] - lowest] += g.vertexWeight[v];
    }
    int below = 0;
    int cut = 0;
    while (below + weight[cut] / 2 < g.totalWeight / 2) {
      below += weight[cut++];
    }
    return lowest + cut;
  }

  /** Breadth-first search; leaves the vertices found in the queue and returns their number. */
  private int search(WeightedGraph g, int from, int[] distance) {
    Arrays.fill(distance, 0, g.n, -1);
    int[] found = queue;
    int[] neighbor = g.neighbor;
    int tail = 0;
    found[tail++] = from;
    distance[from] = 0;
    for (int head = 0; head < tail; head++) {
      int v = found[head];
      int next = distance[v] + 1;
      int end = g.start[v + 1];
      for (int e = g.start[v]; e < end; e++) {
        int u = neighbor[e];
        if (distance[u] < 0) {
          distance[u] = next;
          found[tail++] = u;
        }
      }
    }
    return tail;
  }
}
