/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering.dissection;

import io.sparqr.ordering.ColumnOrdering;
import io.sparqr.ordering.StopRequest;
import io.sparqr.ordering.graph.ColumnGraph;
import io.sparqr.ordering.graph.GraphCompression;
import io.sparqr.ordering.graph.WeightedGraph;
import io.sparqr.sparse.Permutation;
import io.sparqr.sparse.SparsityPattern;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;

/**
 * Multilevel nested dissection on the graph of A'A (George 1973; Karypis and Kumar 1998, "A fast
 * and high quality multilevel scheme for partitioning irregular graphs"; separators refined after
 * Ashcraft and Liu 1998 and Hendrickson and Rothberg 1998). Vertices with the same neighbours are
 * merged, separators come last, subgraphs of up to {@code leafSize} vertices are ordered by minimum
 * degree with their halo. Dense rows are left out of the graph ({@link ColumnGraph}); columns
 * without neighbours come first, columns with very many neighbours last.
 *
 * <p>The order depends on the pattern alone, not on the number of threads. Time is about that of
 * METIS: O(entries of A'A x log n).
 */
public final class NestedDissection implements ColumnOrdering {
  static final int DEFAULT_LEAF_SIZE = 200;
  static final long SEED = 0x5EED0F5EBA5A7FL;

  /** Adjacency entries allowed for the cliques of rows, per entry of the pattern. */
  private static final long ENTRIES_PER_ENTRY = 40;

  private static final long MIN_CAP = 1L << 24;
  private static final long MAX_CAP = 1L << 29;

  /** A dense column's degree also exceeds this many times the mean. */
  private static final double DENSE_COLUMN_FACTOR = 4;

  private final int threads;
  private final int leafSize;
  private final long seed;

  /** Dissection on all processors of the machine. */
  public NestedDissection() {
    this(Runtime.getRuntime().availableProcessors());
  }

  /**
   * Dissection on a number of threads.
   *
   * @param threads at least 1; changes the time, never the result
   */
  public NestedDissection(int threads) {
    this(threads, DEFAULT_LEAF_SIZE);
  }

  /** A variant with other random choices; number 0 is the default. */
  public static NestedDissection variant(int number) {
    return new NestedDissection(
        Runtime.getRuntime().availableProcessors(), DEFAULT_LEAF_SIZE, SEED + number);
  }

  NestedDissection(int threads, int leafSize) {
    this(threads, leafSize, SEED);
  }

  NestedDissection(int threads, int leafSize, long seed) {
    if (threads < 1 || leafSize < 1) {
      throw new IllegalArgumentException(
          "nested dissection needs a thread and a leaf size of 1 at least: threads "
              + threads
              + ", leaf size "
              + leafSize);
    }
    this.threads = threads;
    this.leafSize = leafSize;
    this.seed = seed;
  }

  @Override
  public Permutation order(SparsityPattern pattern) {
    return new Permutation(inPool(threads, () -> ordered(graph(pattern), new StopRequest())));
  }

  /** The graph of A'A that is dissected. */
  public static WeightedGraph graph(SparsityPattern pattern) {
    long entries = pattern.patternEntries();
    long cap = Math.max(MIN_CAP, Math.min(MAX_CAP, ENTRIES_PER_ENTRY * entries));
    return ColumnGraph.of(pattern, cap);
  }

  /** As above, on all processors. */
  public static WeightedGraph parallelGraph(SparsityPattern pattern) {
    return inPool(Runtime.getRuntime().availableProcessors(), () -> graph(pattern));
  }

  /** Orders a symmetric graph; entry k of the result is the vertex eliminated k-th. */
  public int[] order(WeightedGraph graph) {
    return order(graph, new StopRequest());
  }

  /**
   * As above, until the result is no longer wanted.
   *
   * @throws java.util.concurrent.CancellationException if it has been stopped
   */
  public int[] order(WeightedGraph graph, StopRequest stop) {
    return inPool(threads, () -> ordered(graph, stop));
  }

  private static <T> T inPool(int threads, Callable<T> work) {
    ForkJoinPool pool = new ForkJoinPool(threads);
    try {
      return pool.invoke(ForkJoinTask.adapt(work));
    } finally {
      pool.shutdown();
    }
  }

  private int[] ordered(WeightedGraph graph, StopRequest stop) {
    int n = graph.n;
    int[] order = new int[n];
    int[] kept = new int[n];
    int[] denseColumns = new int[n];
    int[] part = new int[n];
    int dense = 0;
    int keptCount = 0;
    int placed = 0;
    double limit =
        Math.max(
            ColumnGraph.denseThreshold(n), DENSE_COLUMN_FACTOR * graph.entries() / Math.max(1, n));
    for (int v = 0; v < n; v++) {
      int degree = graph.degree(v);
      part[v] = -1;
      if (degree == 0) {
        order[placed++] = v;
      } else if (degree > limit) {
        denseColumns[dense++] = v;
      } else {
        part[v] = 0;
        kept[keptCount++] = v;
      }
    }
    placed =
        dissect(
            keptCount == n ? graph : graph.induced(part, 1, new int[n])[0],
            stop,
            kept,
            order,
            placed);
    byDegree(graph, denseColumns, dense);
    System.arraycopy(denseColumns, 0, order, placed, dense);
    return order;
  }

  private int dissect(
      WeightedGraph graph, StopRequest stop, int[] vertexOf, int[] order, int from) {
    stop.check();
    GraphCompression compression = GraphCompression.of(graph);
    DissectionTask.Shared shared =
        new DissectionTask.Shared(compression.compressed(), leafSize, stop);
    if (shared.graph.n > 0) {
      new DissectionTask(shared, seed).invoke();
    }
    int at = from;
    for (int group : shared.order) {
      int end = compression.copyGroup(group, order, at);
      for (; at < end; at++) {
        order[at] = vertexOf[order[at]];
      }
    }
    return at;
  }

  private static void byDegree(WeightedGraph graph, int[] vertices, int count) {
    long[] keys = new long[count];
    for (int i = 0; i < count; i++) {
      keys[i] = ((long) graph.degree(vertices[i]) << 32) | vertices[i];
    }
    Arrays.sort(keys);
    for (int i = 0; i < count; i++) {
      vertices[i] = (int) keys[i];
    }
  }
}
