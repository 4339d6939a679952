/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering;

import java.util.Arrays;

/**
 * The narrowest level near the middle of a breadth-first search from a peripheral vertex (George
 * and Liu 1979, level structures): a separator of the graph for the price of two searches. In a
 * mesh it is not far from the best one, so that it tells what dissection will make of the graph
 * before any order is there. Deterministic, O(n + entries).
 */
final class LevelStructure {

  /** The middle lies between these fractions of the vertices, in the order of the search. */
  private static final double FIRST = 0.3;

  private static final double LAST = 0.7;

  /**
   * Exponents of n between which the separator of a solid lies: 2/3 in theory, 0.63 to 0.72 in
   * grids and cells, up to 0.80 in flows over time. Plane meshes have 0.51, road and pose graphs
   * 0.35 to 0.59, graphs without geometry 0.84 to 1.
   */
  private static final double PLANE = 0.6;

  private static final double EXPANDER = 0.82;

  /** A separator of more than this part of the vertices separates little. */
  private static final int LEAST_LEVELS = 8;

  private final WeightedGraph g;
  private final int[] queue;
  private final boolean[] seen;

  /** Number of levels of the last search, and where each begins in the queue. */
  private int levels;

  private int[] levelStart = new int[64];

  private LevelStructure(WeightedGraph g) {
    this.g = g;
    queue = new int[g.n];
    seen = new boolean[g.n];
  }

  /**
   * Whether the graph looks like a solid: its separators are small enough for dissection to be far
   * ahead of minimum degree, and large enough for their fronts to take most of the time.
   */
  static boolean solid(WeightedGraph g) {
    double s = separator(g);
    return LEAST_LEVELS * s <= g.n && s >= Math.pow(g.n, PLANE) && s <= Math.pow(g.n, EXPANDER);
  }

  /** The size of the separator; n if no half of the vertices is connected, or there is none. */
  static int separator(WeightedGraph g) {
    return new LevelStructure(g).find();
  }

  private int find() {
    int reached = 0;
    for (int v = 0; v < g.n && 2L * reached < g.n; v++) {
      if (!seen[v]) {
        reached = search(v);
      }
    }
    if (2L * reached < g.n || g.n == 0) {
      return g.n;
    }
    int end = queue[reached - 1];
    Arrays.fill(seen, false);
    search(end);
    return narrowest(reached);
  }

  /** Writes the vertices level by level; returns their number. */
  private int search(int from) {
    int end = 0;
    queue[end++] = from;
    seen[from] = true;
    levels = 0;
    int levelEnd = 0;
    for (int k = 0; k < end; k++) {
      if (k == levelEnd) {
        if (levels == levelStart.length) {
          levelStart = Arrays.copyOf(levelStart, 2 * levels);
        }
        levelStart[levels++] = k;
        levelEnd = end;
      }
      int v = queue[k];
      for (int e = g.start[v]; e < g.start[v + 1]; e++) {
        int u = g.neighbor[e];
        if (!seen[u]) {
          seen[u] = true;
          queue[end++] = u;
        }
      }
    }
    return end;
  }

  private int narrowest(int reached) {
    int least = g.n;
    for (int l = 0; l < levels; l++) {
      int start = levelStart[l];
      if (start >= FIRST * reached && start <= LAST * reached) {
        least = Math.min(least, (l + 1 < levels ? levelStart[l + 1] : reached) - start);
      }
    }
    return least;
  }
}
