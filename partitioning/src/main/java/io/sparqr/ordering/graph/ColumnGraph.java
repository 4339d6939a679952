/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering.graph;

import io.sparqr.sparse.SparsityPattern;
import io.sparqr.threads.ParallelLoop;
import java.util.Arrays;

/**
 * The graph of A'A from the distinct row patterns: vertices are columns, a row makes a clique of
 * its columns, and an edge's weight is the number of row patterns that contain both ends. Rows
 * longer than max(16, 10 sqrt(n)) are left out, as COLAMD does. If the cliques that remain could
 * exceed a cap on the adjacency, the longest of them are replaced by circulants with strides 1, 2,
 * 4, ..: O(length log length) edges that still connect the row's columns. Time is proportional to
 * the sum of the squared lengths of the rows kept.
 */
public final class ColumnGraph {
  private static final double DENSE_FACTOR = 10;
  private static final int DENSE_MINIMUM = 16;

  private final SparsityPattern pattern;
  private final int n;

  /** Rows up to this length are cliques. */
  private final int cliqueLength;

  /** Longer rows are left out of the graph. */
  private final int denseLength;

  private final int[] columnStart;
  private final int[] rowOfColumn;

  private ColumnGraph(SparsityPattern pattern, long maxEntries) {
    this.pattern = pattern;
    this.n = pattern.columns();
    this.denseLength = denseThreshold(n);
    this.cliqueLength = cliqueLength(maxEntries);
    this.columnStart = new int[n + 1];
    long[] rowStart = pattern.rowStart();
    int[] columnIndex = pattern.columnIndex();
    for (int p = 0; p < pattern.patterns(); p++) {
      if (used(p)) {
        for (int k = (int) rowStart[p]; k < (int) rowStart[p + 1]; k++) {
          columnStart[columnIndex[k] + 1]++;
        }
      }
    }
    for (int j = 0; j < n; j++) {
      columnStart[j + 1] += columnStart[j];
    }
    this.rowOfColumn = new int[columnStart[n]];
    int[] next = columnStart.clone();
    for (int p = 0; p < pattern.patterns(); p++) {
      if (used(p)) {
        for (int k = (int) rowStart[p]; k < (int) rowStart[p + 1]; k++) {
          rowOfColumn[next[columnIndex[k]]++] = p;
        }
      }
    }
  }

  /** Length from which a row (or the degree of a column) counts as dense among n columns. */
  public static int denseThreshold(int n) {
    return (int) Math.max(DENSE_MINIMUM, DENSE_FACTOR * Math.sqrt(n));
  }

  /**
   * Builds the graph.
   *
   * @param maxEntries cap on the adjacency entries that cliques may take, an upper bound that
   *     counts a shared edge once per row
   */
  public static WeightedGraph of(SparsityPattern pattern, long maxEntries) {
    return new ColumnGraph(pattern, maxEntries).build();
  }

  private boolean used(int p) {
    long length = pattern.rowStart()[p + 1] - pattern.rowStart()[p];
    return length > 1 && length <= denseLength;
  }

  private int cliqueLength(long maxEntries) {
    long[] ofLength = new long[denseLength + 1];
    for (int p = 0; p < pattern.patterns(); p++) {
      long length = pattern.rowStart()[p + 1] - pattern.rowStart()[p];
      if (length <= denseLength) {
        ofLength[(int) length]++;
      }
    }
    long entries = 0;
    for (int length = 0; length <= denseLength; length++) {
      entries += ofLength[length] * length * (length - 1);
      if (entries > maxEntries && length > DENSE_MINIMUM) {
        return length - 1;
      }
    }
    return denseLength;
  }

  private WeightedGraph build() {
    int[] start = new int[n + 1];
    int pieces = Pieces.of(n, 2L * rowOfColumn.length);
    int[][] neighbors = new int[pieces][];
    int[][] weights = new int[pieces][];
    ParallelLoop.run(
        pieces,
        p -> {
          int first = Pieces.first(p, pieces, n);
          int end = Pieces.first(p + 1, pieces, n);
          AdjacencyList list = new AdjacencyList(rowOfColumn.length / pieces / 4);
          for (int j = first; j < end; j++) {
            list.expectAsSoFar(j - first, end - first);
            addColumn(j, list);
            start[j + 1] = list.end;
          }
          neighbors[p] = list.neighbor;
          weights[p] = list.weight;
        });
    long entries = 0;
    for (int p = 0; p < pieces; p++) {
      entries += n == 0 ? 0 : start[Pieces.first(p + 1, pieces, n)];
    }
    int[] neighbor = new int[Math.toIntExact(entries)];
    int[] weight = new int[neighbor.length];
    int at = 0;
    for (int p = 0; p < pieces; p++) {
      int first = Pieces.first(p, pieces, n);
      int last = Pieces.first(p + 1, pieces, n);
      int length = n == 0 ? 0 : start[last];
      System.arraycopy(neighbors[p], 0, neighbor, at, length);
      System.arraycopy(weights[p], 0, weight, at, length);
      for (int j = first + 1; j <= last; j++) {
        start[j] += at;
      }
      at += length;
    }
    int[] one = new int[n];
    Arrays.fill(one, 1);
    return new WeightedGraph(n, start, neighbor, weight, one, n, 1);
  }

  /**
   * Adds the neighbours of column j, ascending: an order must not depend on the sequence of the
   * rows.
   */
  private void addColumn(int j, AdjacencyList list) {
    long[] rowStart = pattern.rowStart();
    int[] columnIndex = pattern.columnIndex();
    int[] slot = LastPlaces.atLeast(n);
    int first = list.end;
    for (int q = columnStart[j]; q < columnStart[j + 1]; q++) {
      int from = (int) rowStart[rowOfColumn[q]];
      int to = (int) rowStart[rowOfColumn[q] + 1];
      list.reserve(to - from);
      boolean clique = to - from <= cliqueLength;
      int here = clique ? 0 : Arrays.binarySearch(columnIndex, from, to, j) - from;
      int steps = clique ? to - from : 2 * strides(to - from);
      for (int i = 0; i < steps; i++) {
        int k = columnIndex[from + (clique ? i : circulant(here, i, to - from))];
        if (k != j) {
          list.add(k, first, slot);
        }
      }
    }
    list.sort(first);
  }

  /** Collects the neighbours of successive columns. */
  private static final class AdjacencyList {
    /** Insertion sort for ranges up to this length. */
    private static final int INSERTION_LIMIT = 24;

    /** The most that the arrays grow by at once, lest the first columns mislead. */
    private static final int MOST_GROWTH = 5;

    private int[] neighbor;
    private int[] weight;
    private int end;

    /** Entries that there will be if the columns to come are like those before. */
    private double expected;

    /** Scratch of {@link #sort}. */
    private long[] keys = {};

    AdjacencyList(int capacity) {
      neighbor = new int[Math.max(16, capacity)];
      weight = new int[neighbor.length];
    }

    /** Sets what the list may grow to. */
    void expectAsSoFar(int done, int columns) {
      expected = done == 0 ? 0 : 1.0 * end / done * columns;
    }

    void reserve(int more) {
      if (neighbor.length - end < more) {
        double likely = Math.min(expected * 17 / 16, (double) MOST_GROWTH * neighbor.length);
        int larger = grown(neighbor.length, Math.max(end + more, (int) likely));
        neighbor = Arrays.copyOf(neighbor, larger);
        weight = Arrays.copyOf(weight, larger);
      }
    }

    /**
     * Adds one to the weight of neighbour k of the column whose neighbours start at {@code first}.
     */
    void add(int k, int first, int[] slot) {
      int at = slot[k];
      if (at >= first && at < end && neighbor[at] == k) {
        weight[at]++;
      } else {
        slot[k] = end;
        neighbor[end] = k;
        weight[end++] = 1;
      }
    }

    void sort(int first) {
      if (end - first > INSERTION_LIMIT) {
        int count = end - first;
        keys = keys.length < count ? new long[count + (count >> 1)] : keys;
        for (int i = first; i < end; i++) {
          keys[i - first] = (long) neighbor[i] << 32 | weight[i];
        }
        Arrays.sort(keys, 0, count);
        for (int i = first; i < end; i++) {
          neighbor[i] = (int) (keys[i - first] >>> 32);
          weight[i] = (int) keys[i - first];
        }
        return;
      }
      for (int i = first + 1; i < end; i++) {
        int k = neighbor[i];
        int w = weight[i];
        int at = i;
        for (; at > first && neighbor[at - 1] > k; at--) {
          neighbor[at] = neighbor[at - 1];
          weight[at] = weight[at - 1];
        }
        neighbor[at] = k;
        weight[at] = w;
      }
    }
  }

  private static int grown(int length, int needed) {
    long larger = Math.max(needed, length + (length >> 1) + 64L);
    return (int) Math.min(larger, Integer.MAX_VALUE - 16);
  }

  /** The number of strides 1, 2, 4, .. below half of the length. */
  private static int strides(int length) {
    return 32 - Integer.numberOfLeadingZeros(length / 2);
  }

  private static int circulant(int here, int step, int length) {
    int stride = 1 << (step >> 1);
    int k = (step & 1) == 0 ? here + stride : here - stride;
    return k < 0 ? k + length : k >= length ? k - length : k;
  }
}
