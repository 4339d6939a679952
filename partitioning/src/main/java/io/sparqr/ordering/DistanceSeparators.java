/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering;

import java.util.Arrays;

/**
 * Separators of the uncoarsened graph from distances to peripheral vertices (George and Liu 1978,
 * level structures): the half of the weight nearest to one end, to the other, or nearer to one than
 * to the other. Coarsening by random matchings blurs the metric of a mesh; these keep it. On a k^3
 * grid with seven-point stencil they find the hexagon of 3/4 k^2 vertices across the diagonal where
 * multilevel refinement stops at k^2. Each is refined; O(n + entries) apart from that.
 */
final class DistanceSeparators {
  /** A candidate this many times as heavy as the separator to beat is not worth refining. */
  private static final int HOPELESS = 4;

  private final SeparatorState state;

  private int[] key = new int[0];
  private int[] fromFirst = new int[0];
  private int[] fromSecond = new int[0];
  private int[] queue = new int[0];

  DistanceSeparators(SeparatorState state) {
    this.state = state;
  }

  /** Finds two peripheral vertices of a connected graph and the distances to them. */
  void measure(WeightedGraph g, int seedVertex) {
    if (key.length < g.n) {
      key = new int[g.n];
      fromFirst = new int[g.n];
      fromSecond = new int[g.n];
      queue = new int[g.n];
    }
    int first = farthest(g, seedVertex, fromFirst);
    int second = farthest(g, first, fromFirst);
    farthest(g, second, fromSecond);
  }

  /**
   * Writes a candidate into the state, which is bound to g.
   *
   * @param which 0: nearest to the first end, 1: to the second, 2: by the difference
   * @param bestWeight weight of the separator to beat
   * @return false, the state undefined, where it is not worth refining
   */
  boolean candidate(WeightedGraph g, int which, int bestWeight) {
    int lowest = Integer.MAX_VALUE;
    int highest = Integer.MIN_VALUE;
    for (int v = 0; v < g.n; v++) {
      int d = which == 0 ? fromFirst[v] : which == 1 ? fromSecond[v] : fromFirst[v] - fromSecond[v];
      key[v] = d;
      lowest = Math.min(lowest, d);
      highest = Math.max(highest, d);
    }
    int cut = medianKey(g, lowest, highest);
    int[] part = state.part;
    for (int v = 0; v < g.n; v++) {
      part[v] = key[v] < cut ? 0 : 1;
    }
    long weight = 0;
    for (int v = 0; v < g.n; v++) {
      if (part[v] != 0) {
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
    if (weight > (long) HOPELESS * bestWeight) {
      return false;
    }
    state.recompute();
    return true;
  }

  /** The key at which the weight below it comes nearest to half. */
  private int medianKey(WeightedGraph g, int lowest, int highest) {
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

  private int farthest(WeightedGraph g, int from, int[] distance) {
    Arrays.fill(distance, 0, g.n, -1);
    int tail = 0;
    queue[tail++] = from;
    distance[from] = 0;
    for (int head = 0; head < tail; head++) {
      int v = queue[head];
      int next = distance[v] + 1;
      for (int e = g.start[v]; e < g.start[v + 1]; e++) {
        int u = g.neighbor[e];
        if (distance[u] < 0) {
          distance[u] = next;
          queue[tail++] = u;
        }
      }
    }
    return queue[tail - 1];
  }
}
