/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering;

/**
 * One step of coarsening: a matching of heavy edges is contracted (Karypis and Kumar 1998, section
 * 3.1). Vertices are visited by ascending degree, at random among equals; each takes the unmatched
 * neighbour with the heaviest edge. Where that leaves many alone (stars, power laws) vertices that
 * share a neighbour are paired. O(n + entries) a step.
 */
final class Coarsening {
  /** Pairs are looked for at distance two when more than this fraction stays unmatched. */
  private static final double UNMATCHED_FRACTION = 0.10;

  private final WeightedGraph coarse;
  private final int[] map;

  private Coarsening(WeightedGraph coarse, int[] map) {
    this.coarse = coarse;
    this.map = map;
  }

  /** The contracted graph. */
  WeightedGraph coarse() {
    return coarse;
  }

  /** Size n; the coarse vertex of each fine one. */
  int[] map() {
    return map;
  }

  /**
   * Contracts a matching of g.
   *
   * @param maxWeight no coarse vertex made of two weighs more
   */
  static Coarsening of(WeightedGraph g, int maxWeight, DissectionRandom random) {
    int n = g.n;
    int[] match = new int[n];
    java.util.Arrays.fill(match, -1);
    int unmatched = matchHeavyEdges(g, maxWeight, random, match);
    if (unmatched > UNMATCHED_FRACTION * n) {
      matchAtDistanceTwo(g, maxWeight, match);
    }
    int[] map = new int[n];
    int coarseVertices = 0;
    for (int v = 0; v < n; v++) {
      int u = match[v];
      if (u < 0) {
        match[v] = v;
        map[v] = coarseVertices++;
      } else if (v <= u) {
        map[v] = coarseVertices++;
      } else {
        map[v] = map[u];
      }
    }
    return new Coarsening(contract(g, match, map, coarseVertices), map);
  }

  private static int[] visitOrder(WeightedGraph g, DissectionRandom random) {
    int n = g.n;
    int[] shuffled = new int[n];
    random.permutation(shuffled, n);
    int cap = (int) (0.7 * g.entries() / Math.max(1, n)) + 1;
    int[] next = new int[cap + 2];
    for (int v = 0; v < n; v++) {
      next[Math.min(g.degree(v), cap) + 1]++;
    }
    for (int d = 0; d <= cap; d++) {
      next[d + 1] += next[d];
    }
    int[] order = new int[n];
    for (int k = 0; k < n; k++) {
      int v = shuffled[k];
      order[next[Math.min(g.degree(v), cap)]++] = v;
    }
    return order;
  }

  private static int matchHeavyEdges(
      WeightedGraph g, int maxWeight, DissectionRandom random, int[] match) {
    int[] order = visitOrder(g, random);
    int[] start = g.start;
    int[] neighbor = g.neighbor;
    int[] weight = g.vertexWeight;
    int unmatched = 0;
    int lonely = -1;
    for (int v : order) {
      if (match[v] >= 0) {
        continue;
      }
      int room = maxWeight - weight[v];
      int best = -1;
      int heaviest = 0;
      for (int e = start[v]; e < start[v + 1]; e++) {
        int u = neighbor[e];
        if (g.edgeWeight[e] > heaviest && match[u] < 0 && weight[u] <= room) {
          heaviest = g.edgeWeight[e];
          best = u;
        }
      }
      if (best < 0 && start[v] == start[v + 1]) {
        if (lonely >= 0 && weight[lonely] <= room) {
          best = lonely;
          unmatched--;
          lonely = -1;
        } else {
          lonely = v;
        }
      }
      if (best >= 0) {
        match[v] = best;
        match[best] = v;
      } else {
        unmatched++;
      }
    }
    return unmatched;
  }

  private static void matchAtDistanceTwo(WeightedGraph g, int maxWeight, int[] match) {
    for (int hub = 0; hub < g.n; hub++) {
      int waiting = -1;
      for (int e = g.start[hub]; e < g.start[hub + 1]; e++) {
        int v = g.neighbor[e];
        if (match[v] >= 0) {
          continue;
        }
        if (waiting < 0) {
          waiting = v;
        } else if (g.vertexWeight[v] + g.vertexWeight[waiting] <= maxWeight) {
          match[v] = waiting;
          match[waiting] = v;
          waiting = -1;
        } else if (g.vertexWeight[v] < g.vertexWeight[waiting]) {
          waiting = v;
        }
      }
    }
  }

  private static WeightedGraph contract(WeightedGraph g, int[] match, int[] map, int count) {
    int[] coarseStart = new int[count + 1];
    int[] adjacent = new int[g.entries()];
    int[] weights = new int[g.entries()];
    int[] vertexWeight = new int[count];
    int[] slot = new int[count];
    java.util.Arrays.fill(slot, -1);
    int end = 0;
    int c = 0;
    for (int v = 0; v < g.n; v++) {
      if (match[v] < v) {
        continue;
      }
      int first = end;
      int u = v;
      while (true) {
        vertexWeight[c] += g.vertexWeight[u];
        for (int e = g.start[u]; e < g.start[u + 1]; e++) {
          int k = map[g.neighbor[e]];
          if (k == c) {
            continue;
          }
          int at = slot[k];
          if (at < first) {
            slot[k] = end;
            adjacent[end] = k;
            weights[end++] = g.edgeWeight[e];
          } else {
            weights[at] += g.edgeWeight[e];
          }
        }
        if (u != v || match[v] == v) {
          break;
        }
        u = match[v];
      }
      coarseStart[++c] = end;
    }
    if (end < adjacent.length / 2) {
      // the hierarchy is held while it is climbed: give back what is mostly empty
      adjacent = java.util.Arrays.copyOf(adjacent, end);
      weights = java.util.Arrays.copyOf(weights, end);
    }
    return new WeightedGraph(count, coarseStart, adjacent, weights, vertexWeight);
  }
}
