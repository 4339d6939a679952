/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering.dissection;

import io.sparqr.ordering.graph.Pieces;
import io.sparqr.ordering.graph.WeightedGraph;
import io.sparqr.threads.ParallelLoop;
import java.util.Arrays;

/**
 * One step of coarsening: a matching of heavy edges ({@link HeavyEdgeMatching}) is contracted,
 * large graphs in parallel pieces. Coarse vertices are numbered by the first of their fine ones.
 * O(n + entries) per step; memory comes from a {@link CoarseningSpace}.
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

  /** Size at least n; the coarse vertex of each fine one. */
  int[] map() {
    return map;
  }

  /**
   * Contracts a matching of g.
   *
   * @param maxWeight no coarse vertex made of two weighs more
   * @param space where the result lies, which is valid until the space is used at this depth again
   * @param depth of g in its hierarchy; g itself may lie in the same space one level above
   */
  static Coarsening of(
      WeightedGraph g, int maxWeight, long seed, CoarseningSpace space, int depth) {
    int[] match = HeavyEdgeMatching.of(g, maxWeight, seed, space);
    CoarseningSpace.Level level = space.level(depth);
    int pieces = Pieces.of(g.n, (long) g.n + g.entries());
    int[] firstCoarse = new int[pieces + 1];
    int[] map = level.map(g.n);
    if (pieces == 1) {
      firstCoarse[1] = number(match, map, g.n);
      return new Coarsening(new Contraction(g, match, map, firstCoarse, level).contract(), map);
    }
    ParallelLoop.run(pieces, p -> firstCoarse[p + 1] = numberLeaders(g, match, map, p, pieces));
    for (int p = 0; p < pieces; p++) {
      firstCoarse[p + 1] += firstCoarse[p];
    }
    ParallelLoop.run(pieces, p -> addFirst(g, match, map, p, pieces, firstCoarse[p]));
    ParallelLoop.run(pieces, p -> numberFollowers(g, match, map, p, pieces));
    return new Coarsening(new Contraction(g, match, map, firstCoarse, level).contract(), map);
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
    private final int[] neighbor;
    private final int[] edgeWeight;

    /** Size pieces + 1; where a piece may write its adjacency: as much as it can have at most. */
    private final int[] firstEntry;

    /** Size pieces; entries of each piece. */
    private final int[] entries;

    Contraction(
        WeightedGraph g, int[] match, int[] map, int[] firstCoarse, CoarseningSpace.Level level) {
      this.g = g;
      this.match = match;
      this.map = map;
      this.firstCoarse = firstCoarse;
      this.pieces = firstCoarse.length - 1;
      this.count = firstCoarse[pieces];
      this.start = level.start(count + 1);
      this.vertexWeight = level.vertexWeight(count);
      this.firstEntry = new int[pieces + 1];
      this.entries = new int[pieces];
      // a row in the making takes one entry more
      if (pieces == 1) {
        firstEntry[1] = g.entries() + 1;
      } else {
        ParallelLoop.run(pieces, p -> firstEntry[p + 1] = bound(p) + 1);
      }
      for (int p = 0; p < pieces; p++) {
        firstEntry[p + 1] += firstEntry[p];
      }
      this.neighbor = level.neighbor(firstEntry[pieces]);
      this.edgeWeight = level.edgeWeight(firstEntry[pieces]);
    }

    WeightedGraph contract() {
      int[] greatest = new int[pieces];
      ParallelLoop.run(pieces, p -> greatest[p] = contract(p));
      int max = Arrays.stream(greatest).max().orElse(1);
      if (pieces > 1) {
        closeUp();
      }
      return new WeightedGraph(
          count, start, neighbor, edgeWeight, vertexWeight, g.totalWeight, max);
    }

    /** Moves the pieces' adjacencies together. */
    private void closeUp() {
      int[] to = new int[pieces];
      for (int p = 1; p < pieces; p++) {
        to[p] = to[p - 1] + entries[p - 1];
      }
      // pieces overlap those before them: in sequence, but two arrays side by side
      ParallelLoop.run(
          2,
          which -> {
            int[] array = which == 0 ? neighbor : edgeWeight;
            for (int p = 1; p < pieces; p++) {
              System.arraycopy(array, firstEntry[p], array, to[p], entries[p]);
            }
          });
      ParallelLoop.run(
          pieces,
          p -> {
            for (int c = firstCoarse[p] + 1; c <= firstCoarse[p + 1]; c++) {
              start[c] -= firstEntry[p] - to[p];
            }
          });
    }

    /** Writes a piece's adjacency and its row ends; returns the greatest weight. */
    private int contract(int p) {
      int from = Pieces.first(p, pieces, g.n);
      int to = Pieces.first(p + 1, pieces, g.n);
      int first = firstEntry[p];
      RowMerge rows = RowMerge.ofThread();
      rows.begin(count, firstEntry[p + 1] - first - 1, neighbor, edgeWeight, first);
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
      entries[p] = rows.finish() - first;
      return greatest;
    }

    /** Adjacency entries that a piece has at most. */
    private int bound(int p) {
      int to = Pieces.first(p + 1, pieces, g.n);
      int bound = 0;
      for (int v = Pieces.first(p, pieces, g.n); v < to; v++) {
        if (match[v] >= v) {
          bound += g.degree(v) + (match[v] == v ? 0 : g.degree(match[v]));
        }
      }
      return bound;
    }
  }
}
