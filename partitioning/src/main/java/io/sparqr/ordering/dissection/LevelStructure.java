/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering.dissection;

import io.sparqr.sparse.SparsityPattern;
import java.util.Arrays;

/**
 * The narrowest level near the middle of a breadth-first search from a peripheral column (George
 * and Liu 1979, level structures), in the graph whose cliques are the rows: a separator of that
 * graph for the price of two searches. In a mesh it is not far from the best one, so that it tells
 * what dissection will make of the graph before any order is there. The graph itself is not made:
 * all columns of a row are reached when the first of them is, so that no row is looked at twice.
 * Deterministic, O(n + entries of the rows).
 */
public final class LevelStructure {

  /** The middle lies between these fractions of the columns, in the order of the search. */
  private static final double FIRST = 0.3;

  private static final double LAST = 0.7;

  /**
   * Exponents of n between which the separator of a solid lies: 2/3 in theory, 0.63 to 0.72 in
   * grids and cells, up to 0.80 in flows over time. Plane meshes have 0.51, road and pose graphs
   * 0.35 to 0.59, graphs without geometry 0.84 to 1.
   */
  private static final double PLANE = 0.6;

  private static final double EXPANDER = 0.82;

  /** A separator of more than this part of the columns separates little. */
  private static final int LEAST_LEVELS = 8;

  private final SparsityPattern pattern;
  private final int n;

  /** The rows of each column: those of column v from rowsOf[v] to rowsOf[v + 1]. */
  private final int[] rowsOf;

  private final int[] row;
  private final int[] queue;
  private final boolean[] seen;
  private final boolean[] read;

  /** Number of levels of the last search, and where each begins in the queue. */
  private int levels;

  private int[] levelStart = new int[64];

  private LevelStructure(SparsityPattern pattern) {
    this.pattern = pattern;
    n = pattern.columns();
    int[] column = pattern.columnIndex();
    int entries = Math.toIntExact(pattern.patternEntries());
    rowsOf = new int[n + 1];
    for (int e = 0; e < entries; e++) {
      rowsOf[column[e] + 1]++;
    }
    for (int v = 0; v < n; v++) {
      rowsOf[v + 1] += rowsOf[v];
    }
    row = new int[entries];
    int[] next = Arrays.copyOf(rowsOf, n);
    for (int r = 0; r < pattern.patterns(); r++) {
      for (int e = (int) pattern.rowStart()[r]; e < pattern.rowStart()[r + 1]; e++) {
        row[next[column[e]]++] = r;
      }
    }
    queue = new int[n];
    seen = new boolean[n];
    read = new boolean[pattern.patterns()];
  }

  /**
   * Whether the graph looks like a solid: its separators are small enough for dissection to be far
   * ahead of minimum degree, and large enough for their fronts to take most of the time.
   */
  public static boolean solid(SparsityPattern pattern) {
    int n = pattern.columns();
    double s = separator(pattern);
    return LEAST_LEVELS * s <= n && s >= Math.pow(n, PLANE) && s <= Math.pow(n, EXPANDER);
  }

  /** The size of the separator; n if no half of the columns is connected, or there is none. */
  static int separator(SparsityPattern pattern) {
    return new LevelStructure(pattern).find();
  }

  private int find() {
    int reached = 0;
    for (int v = 0; v < n && 2L * reached < n; v++) {
      if (!seen[v]) {
        reached = search(v);
      }
    }
    if (2L * reached < n || n == 0) {
      return n;
    }
    int end = queue[reached - 1];
    Arrays.fill(seen, false);
    Arrays.fill(read, false);
    search(end);
    return narrowest(reached);
  }

  /** Writes the columns level by level; returns their number. */
  private int search(int from) {
    int end = 0;
    queue[end++] = from;
    seen[from] = true;
    levels = 0;
    int levelEnd = 0;
    int[] column = pattern.columnIndex();
    long[] rowStart = pattern.rowStart();
    for (int k = 0; k < end; k++) {
      if (k == levelEnd) {
        if (levels == levelStart.length) {
          levelStart = Arrays.copyOf(levelStart, 2 * levels);
        }
        levelStart[levels++] = k;
        levelEnd = end;
      }
      int v = queue[k];
      for (int i = rowsOf[v]; i < rowsOf[v + 1]; i++) {
        int r = row[i];
        if (!read[r]) {
          read[r] = true;
          for (int e = (int) rowStart[r]; e < rowStart[r + 1]; e++) {
            int u = column[e];
            if (!seen[u]) {
              seen[u] = true;
              queue[end++] = u;
            }
          }
        }
      }
    }
    return end;
  }

  private int narrowest(int reached) {
    int least = n;
    for (int l = 0; l < levels; l++) {
      int start = levelStart[l];
      if (start >= FIRST * reached && start <= LAST * reached) {
        least = Math.min(least, (l + 1 < levels ? levelStart[l + 1] : reached) - start);
      }
    }
    return least;
  }
}
