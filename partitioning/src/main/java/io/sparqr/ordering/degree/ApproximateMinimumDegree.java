/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering.degree;

import io.sparqr.ordering.ColumnOrdering;
import io.sparqr.ordering.StopRequest;
import io.sparqr.sparse.Permutation;
import io.sparqr.sparse.SparsityPattern;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Approximate minimum degree on the graph of A'A (Amestoy, Davis, Duff 1996). A row of A is a
 * clique of that graph: short rows are written out as edges, so that a neighbour shared by several
 * rows counts once; long rows remain elements of the quotient graph, which bounds the memory for
 * any matrix.
 */
public final class ApproximateMinimumDegree implements ColumnOrdering {

  /** Edges, duplicates included, that may be written out however small A is. */
  private static final long LEAST_EDGE_BUDGET = 1L << 24;

  /** Edges, duplicates included, that may be written out per entry of A. */
  private static final int EDGES_PER_ENTRY = 20;

  /** The most edges, duplicates included, that are written out. */
  private static final long MOST_EDGE_BUDGET = 1L << 28;

  /**
   * {@inheritDoc}
   *
   * @throws io.sparqr.error.IndexOverflowException if the distinct rows and the edges have more
   *     entries than an array can index
   */
  @Override
  public Permutation order(SparsityPattern pattern) {
    return counted(pattern, () -> {}, new StopRequest()).order;
  }

  /**
   * An order and the size of the graph behind it.
   *
   * @param adjacencies see {@link RowCliques#adjacencies}
   */
  public record Counted(Permutation order, double adjacencies) {}

  /**
   * Orders the columns and counts the adjacencies.
   *
   * @param serial run when all that is left to do takes one thread
   * @throws java.util.concurrent.CancellationException if it is stopped
   */
  public static Counted counted(SparsityPattern pattern, Runnable serial, StopRequest stop) {
    RowCliques rows = RowCliques.of(pattern);
    long budget = Math.max(LEAST_EDGE_BUDGET, EDGES_PER_ENTRY * pattern.patternEntries());
    budget = Math.min(budget, MOST_EDGE_BUDGET);
    Permutation order = rows.order(rows.longestRowWithin(budget), false, serial, stop);
    return new Counted(order, rows.adjacencies());
  }

  /**
   * Orders a symmetric graph.
   *
   * @param n vertices
   * @param ptr size n+1; offsets into adj
   * @param adj the neighbours of vertex i are {@code adj[ptr[i] .. ptr[i+1])}: in both directions,
   *     none twice; loops are skipped
   * @param weight size n; positive number of columns that a vertex stands for, or null for 1 each
   * @return size n; entry k is the vertex eliminated k-th. O(n + edges) memory; deterministic
   */
  public static int[] order(int n, int[] ptr, int[] adj, int @Nullable [] weight) {
    int[] size = new int[n];
    if (weight == null) {
      Arrays.fill(size, 1);
    } else {
      System.arraycopy(weight, 0, size, 0, n);
    }
    int[] lists = new int[RowCliques.checkedSize((long) ptr[n] + ptr[n] / 5 + n + 1)];
    int[] start = new int[n];
    int[] length = new int[n];
    int out = 0;
    for (int i = 0; i < n; i++) {
      start[i] = out;
      for (int p = ptr[i]; p < ptr[i + 1]; p++) {
        if (adj[p] != i) {
          lists[out++] = adj[p];
        }
      }
      length[i] = out - start[i];
    }
    int[] order = new int[n];
    new QuotientGraph(n, lists, out, start, length, new int[n], size, false)
        .eliminate(order, new StopRequest());
    return order;
  }
}
