/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering.choice;

import io.sparqr.ordering.graph.ColumnGraph;
import io.sparqr.sparse.SparsityPattern;

/**
 * What the orders of a pattern are predicted to cost, in seconds of one thread, from sizes alone:
 * the choice of an order must not depend on a clock. Fitted to about 160 matrices, of which most
 * take between half and twice the time.
 *
 * @param columns n
 * @param rows distinct row patterns
 * @param entries of the distinct row patterns
 * @param cliqueEntries see {@link #cliqueEntries}
 */
record SearchEffort(int columns, int rows, long entries, long cliqueEntries) {

  private static final double DISSECTION_PER_COLUMN = 5e-6;
  private static final double DISSECTION_PER_ADJACENCY = 3e-7;

  /** Of making the graph of A'A, which takes most of the time where rows are dense. */
  private static final double GRAPH_PER_CLIQUE_ENTRY = 1.6e-8;

  private static final double DEGREE_PER_COLUMN = 1e-6;
  private static final double DEGREE_PER_ADJACENCY = 1.3e-7;
  private static final double COLAMD_PER_COLUMN = 1e-6;
  private static final double COLAMD_PER_ENTRY = 1.5e-7;

  /** From this mean length on, weighted by itself, rows are long. */
  private static final int LONG_ROW = 12;

  /** With more rows than this per column, the rows decide about the flops, not the order. */
  private static final int TALL = 16;

  /** The effort of searches on this pattern, estimated from its sizes. */
  static SearchEffort of(SparsityPattern p) {
    return new SearchEffort(p.columns(), p.patterns(), p.patternEntries(), cliqueEntries(p));
  }

  /** The sum of squared row lengths, a dense row counted by its length. O(rows). */
  static long cliqueEntries(SparsityPattern pattern) {
    long entries = 0;
    long[] start = pattern.rowStart();
    int dense = ColumnGraph.denseThreshold(pattern.columns());
    for (int p = 0; p < pattern.patterns(); p++) {
      long length = start[p + 1] - start[p];
      entries += length <= dense ? length * length : length;
    }
    return entries;
  }

  /** Whether the rows are so long that making the graph of A'A costs more than COLAMD's order. */
  boolean longRows() {
    return cliqueEntries > LONG_ROW * entries;
  }

  /** Whether rows outnumber columns by far, so that another order saves little. */
  boolean tall() {
    return rows > (long) TALL * columns;
  }

  /** The most adjacencies that the graph of A'A can have. */
  double mostAdjacencies() {
    return Math.min(cliqueEntries, (double) columns * columns);
  }

  /** Seconds of nested dissection, the making of its graph included. */
  double dissection(double adjacencies) {
    return DISSECTION_PER_COLUMN * columns
        + DISSECTION_PER_ADJACENCY * adjacencies
        + GRAPH_PER_CLIQUE_ENTRY * cliqueEntries;
  }

  /** Estimated seconds of minimum degree, given the number of adjacencies. */
  double minimumDegree(double adjacencies) {
    return DEGREE_PER_COLUMN * columns + DEGREE_PER_ADJACENCY * adjacencies;
  }

  /** Estimated seconds of COLAMD; less where its columns are alike, as on grids. */
  double colamd() {
    return COLAMD_PER_COLUMN * columns + COLAMD_PER_ENTRY * entries;
  }
}
