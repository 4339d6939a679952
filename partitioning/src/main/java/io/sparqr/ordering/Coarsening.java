/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering;

import java.util.Arrays;

/**
 * One step of coarsening: a matching of heavy edges ({@link HeavyEdgeMatching}) is contracted,
 * large graphs in parallel pieces. Coarse vertices are numbered by the first of their fine ones.
 * O(n + entries) per step.
 */
final class Coarsening {
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
  static Coarsening of(WeightedGraph g, int maxWeight, long seed) {
    int[] match = HeavyEdgeMatching.of(g, maxWeight, seed);
    int pieces = Pieces.of(g.n, (long) g.n + g.entries());
    int[] firstCoarse = new int[pieces + 1];
    int[] map = new int[g.n];
    if (pieces == 1) {
      firstCoarse[1] = number(match, map, g.n);
      return new Coarsening(new Contraction(g, match, map, firstCoarse).contract(), map);
    }
    ParallelLoop.run(pieces, p -> firstCoarse[p + 1] = numberLeaders(g, match, map, p, pieces));
    for (int p = 0; p < pieces; p++) {
      firstCoarse[p + 1] += firstCoarse[p];
    }
    ParallelLoop.run(pieces, p -> addFirst(g, match, map, p, pieces, firstCoarse[p]));
    ParallelLoop.run(pieces, p -> numberFollowers(g, match, map, p, pieces));
    return new Coarsening(new Contraction(g, match, map, firstCoarse).contract(), map);
  }

  /** Numbers the pairs of a small graph; returns how many there are. */
  private static int number(int[] match, int[] map, int n) {
    int count = 0;
    for (int v = 0; v < n; v++) {
      int partner = match[v];
      map[v] = partner >= v ? count++ : map[partner];
    }
    return count;
  }

  /** Numbers the first vertices of pairs within a piece from 0; returns how many there are. */
  private static int numberLeaders(WeightedGraph g, int[] match, int[] map, int p, int pieces) {
    int end = Pieces.first(p + 1, pieces, g.n);
    int count = 0;
    for (int v = Pieces.first(p, pieces, g.n); v < end; v++) {
      if (match[v] >= v) {
        map[v] = count++;
      }
    }
    return count;
  }

  private static void addFirst(
      WeightedGraph g, int[] match, int[] map, int p, int pieces, int first) {
    int end = Pieces.first(p + 1, pieces, g.n);
    for (int v = Pieces.first(p, pieces, g.n); first > 0 && v < end; v++) {
      if (match[v] >= v) {
        map[v] += first;
      }
    }
  }

  private static void numberFollowers(WeightedGraph g, int[] match, int[] map, int p, int pieces) {
    int end = Pieces.first(p + 1, pieces, g.n);
    for (int v = Pieces.first(p, pieces, g.n); v < end; v++) {
      if (match[v] < v) {
        map[v] = map[match[v]];
      }
    }
  }

  /**
   * The pieces of one contraction; each covers a range of fine vertices and the coarse vertices
   * whose first vertex lies in it.
   */
  private static final class Contraction {
    private final WeightedGraph g;
    private final int[] match;
    private final int[] map;
    private final int[] firstCoarse;
    private final int pieces;
    private final int count;
    private final int[] start;
    private final int[] vertexWeight;
    private final int[][] adjacent;
    private final int[][] weights;

    Contraction(WeightedGraph g, int[] match, int[] map, int[] firstCoarse) {
      this.g = g;
      this.match = match;
      this.map = map;
      this.firstCoarse = firstCoarse;
      this.pieces = firstCoarse.length - 1;
      this.count = firstCoarse[pieces];
      this.start = new int[count + 1];
      this.vertexWeight = new int[count];
      this.adjacent = new int[pieces][];
      this.weights = new int[pieces][];
    }

    WeightedGraph contract() {
      int[] greatest = new int[pieces];
      ParallelLoop.run(pieces, p -> greatest[p] = contract(p));
      int max = 1;
      int end = 0;
      int[] firstEntry = new int[pieces];
      for (int p = 0; p < pieces; p++) {
        max = Math.max(max, greatest[p]);
        firstEntry[p] = end;
        end += firstCoarse[p] == firstCoarse[p + 1] ? 0 : start[firstCoarse[p + 1]];
      }
      int[] allAdjacent = pieces == 1 ? adjacent[0] : new int[end];
      int[] allWeights = pieces == 1 ? weights[0] : new int[end];
      if (pieces > 1) {
        ParallelLoop.run(pieces, p -> gather(p, firstEntry[p], allAdjacent, allWeights));
      }
      return new WeightedGraph(
          count, start, allAdjacent, allWeights, vertexWeight, g.totalWeight, max);
    }

    private void gather(int p, int first, int[] allAdjacent, int[] allWeights) {
      int length = firstCoarse[p] == firstCoarse[p + 1] ? 0 : start[firstCoarse[p + 1]];
      System.arraycopy(adjacent[p], 0, allAdjacent, first, length);
      System.arraycopy(weights[p], 0, allWeights, first, length);
      for (int c = firstCoarse[p] + 1; c <= firstCoarse[p + 1]; c++) {
        start[c] += first;
      }
    }

    /**
     * Writes a piece's adjacency from 0 and its row ends into {@code start}; returns the greatest
     * weight.
     */
    private int contract(int p) {
      int from = Pieces.first(p, pieces, g.n);
      int to = Pieces.first(p + 1, pieces, g.n);
      RowMerge rows = RowMerge.ofThread();
      rows.begin(count, pieces == 1 ? g.entries() : bound(from, to));
      int greatest = 1;
      int c = firstCoarse[p];
      for (int v = from; v < to; v++) {
        int partner = match[v];
        if (partner < v) {
          continue;
        }
        rows.startRow(c);
        rows.add(g, v, map);
        int w = g.vertexWeight[v];
        if (partner != v) {
          rows.add(g, partner, map);
          w += g.vertexWeight[partner];
        }
        rows.endRow();
        vertexWeight[c] = w;
        greatest = Math.max(greatest, w);
        start[++c] = rows.end();
      }
      adjacent[p] = Arrays.copyOf(rows.neighbor(), rows.end());
      weights[p] = Arrays.copyOf(rows.weight(), rows.end());
      return greatest;
    }

    /** Adjacency entries that a piece has at most. */
    private int bound(int from, int to) {
      int bound = 0;
      for (int v = from; v < to; v++) {
        if (match[v] >= v) {
          bound += g.degree(v) + (match[v] == v ? 0 : g.degree(match[v]));
        }
      }
      return bound;
    }
  }
}
