/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering;

import io.sparqr.sparse.Permutation;
import io.sparqr.sparse.SparsityPattern;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;

/**
 * The expensive orders of one pattern: dissections of one graph, each with other random choices,
 * and COLAMD's. They may begin before they are known to be wanted. {@link #close} gives up what
 * nobody has asked for: dissections stop at their next separator, COLAMD at its next pivot, the
 * graph is made to the end. When something began never changes a result. Used by one thread.
 */
final class DissectionSearch implements AutoCloseable {

  /** The most runs of nested dissection. */
  static final int VARIANTS = 4;

  /**
   * Most entries of the rows' cliques, duplicates included, for which work begins without being
   * wanted yet: making a larger graph would take memory and bandwidth from AMD beside it.
   */
  private static final long SMALL_ENTRIES = 1L << 24;

  private final SparsityPattern pattern;
  private final StopRequest stop = new StopRequest();
  private final Later<WeightedGraph> graph;
  private final List<Later<Permutation>> dissections = new ArrayList<>();
  private final Later<Permutation> colamd;

  /** Begins nothing. */
  DissectionSearch(SparsityPattern pattern) {
    this.pattern = pattern;
    graph = new Later<>(() -> NestedDissection.parallelGraph(pattern));
    for (int k = 0; k < VARIANTS; k++) {
      NestedDissection variant = NestedDissection.variant(k);
      dissections.add(new Later<>(() -> new Permutation(variant.order(graph.get(), stop))));
    }
    colamd = new Later<>(() -> new Colamd().order(pattern, stop));
  }

  /** Begins with the first dissection and COLAMD if the graph is small. */
  void beginIfSmall() {
    long entries = 0;
    long[] start = pattern.rowStart();
    for (int p = 0; p < pattern.patterns() && entries <= SMALL_ENTRIES; p++) {
      long length = start[p + 1] - start[p];
      entries += length <= ColumnGraph.denseThreshold(pattern.columns()) ? length * length : length;
    }
    if (entries <= SMALL_ENTRIES) {
      graph.begin();
      dissections.get(0).begin();
      colamd.begin();
    }
  }

  /** Whether a dissection has begun. */
  boolean begun() {
    return dissections.stream().anyMatch(Later::begun);
  }

  /** Begins with COLAMD. */
  void beginColamd() {
    colamd.begin();
  }

  /** Begins with the dissections 1 to {@code last}, which are likely to be wanted. */
  void begin(int last) {
    if (last > 0) {
      graph.begin();
      dissections.subList(1, last + 1).forEach(Later::begin);
    }
  }

  /** The order of dissection k; number 0 is the default. */
  Permutation order(int k) {
    return dissections.get(k).get();
  }

  /** COLAMD's order. */
  Permutation colamd() {
    return colamd.get();
  }

  /** Gives up what is under way. Does not wait for it. */
  @Override
  public void close() {
    stop.request();
  }

  /** Work on another thread, or where its result is asked for if it has not begun. */
  private static final class Later<T> {
    private final Supplier<T> work;
    private CompletableFuture<T> result;

    Later(Supplier<T> work) {
      this.work = work;
    }

    /** Begins; idempotent. */
    synchronized void begin() {
      if (result == null) {
        result = CompletableFuture.supplyAsync(work);
      }
    }

    synchronized boolean begun() {
      return result != null;
    }

    private synchronized CompletableFuture<T> begunOrClaimed(CompletableFuture<T> own) {
      CompletableFuture<T> begun = result;
      result = begun == null ? own : begun;
      return begun;
    }

    /** Waits for the result; an exception of the work is thrown as it is. */
    T get() {
      var own = new CompletableFuture<T>();
      CompletableFuture<T> begun = begunOrClaimed(own);
      if (begun == null) {
        try {
          own.complete(work.get());
        } catch (RuntimeException | Error e) {
          own.completeExceptionally(e);
        }
        begun = own;
      }
      try {
        return begun.join();
      } catch (CompletionException e) {
        if (e.getCause() instanceof RuntimeException cause) {
          throw cause;
        }
        if (e.getCause() instanceof Error cause) {
          throw cause;
        }
        throw e;
      }
    }
  }
}
