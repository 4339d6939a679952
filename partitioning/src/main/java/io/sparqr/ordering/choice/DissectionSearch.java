/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering.choice;

import io.sparqr.ordering.StopRequest;
import io.sparqr.ordering.degree.Colamd;
import io.sparqr.ordering.dissection.NestedDissection;
import io.sparqr.ordering.graph.WeightedGraph;
import io.sparqr.sparse.Permutation;
import io.sparqr.sparse.SparsityPattern;
import io.sparqr.threads.Later;
import java.util.ArrayList;
import java.util.List;

/**
 * The expensive orders of one pattern: dissections of one graph, each with other random choices,
 * and COLAMD's. They may begin before they are known to be wanted. {@link #close} gives up what was
 * not asked for: dissections stop at their next separator, COLAMD at its next pivot, the graph is
 * made to the end. A result never depends on when its search began. Used by one thread.
 */
final class DissectionSearch implements AutoCloseable {

  /** The most runs of nested dissection. */
  static final int VARIANTS = 4;

  /**
   * Most entries of the rows' cliques, duplicates included, for which work begins without being
   * wanted yet: making a larger graph would take memory and bandwidth from AMD beside it.
   */
  private static final long SMALL_ENTRIES = 1L << 24;

  private final boolean small;
  private final StopRequest stop = new StopRequest();
  private final Later<WeightedGraph> graph;
  private final List<Later<Permutation>> dissections = new ArrayList<>();
  private final Later<Permutation> colamd;

  /** A search on this pattern that has not begun yet. */
  DissectionSearch(SparsityPattern pattern) {
    this(pattern, SearchEffort.cliqueEntries(pattern));
  }

  /**
   * Begins nothing.
   *
   * @param cliqueEntries see {@link SearchEffort#cliqueEntries}
   */
  DissectionSearch(SparsityPattern pattern, long cliqueEntries) {
    small = cliqueEntries <= SMALL_ENTRIES;
    graph = new Later<>(() -> NestedDissection.parallelGraph(pattern));
    for (int k = 0; k < VARIANTS; k++) {
      NestedDissection variant = NestedDissection.variant(k);
      dissections.add(new Later<>(() -> new Permutation(variant.order(graph.get(), stop))));
    }
    colamd = new Later<>(() -> new Colamd().order(pattern, stop));
  }

  /** Begins with the first dissection and COLAMD if the graph is small. */
  void beginIfSmall() {
    beginDissectionIfSmall();
    beginColamdIfSmall();
  }

  /** Begins with COLAMD if the graph is small. */
  void beginColamdIfSmall() {
    if (small) {
      colamd.begin();
    }
  }

  /** Begins with the first dissection if the graph is small. */
  void beginDissectionIfSmall() {
    if (small) {
      graph.begin();
      dissections.get(0).begin();
    }
  }

  /** The graph that is dissected. */
  WeightedGraph graph() {
    return graph.get();
  }

  /** Whether a dissection has begun. */
  boolean begun() {
    return dissections.stream().anyMatch(Later::begun);
  }

  /** Begins to compute COLAMD's order in the background. */
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

  /** COLAMD's order; waits for it. */
  Permutation colamd() {
    return colamd.get();
  }

  /** Gives up what is under way. Does not wait for it. */
  @Override
  public void close() {
    stop.request();
  }
}
