/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.pattern;

import io.sparqr.error.IndexOverflowException;
import io.sparqr.spark.wire.PatternCodec.Patterns;
import java.util.Arrays;

/**
 * Edges (i, j), i at most j, of the graph of A'A, each once: a buffer that is sorted when full. (i,
 * i) means that column i has an entry. 8 bytes per edge, twice that during growth.
 */
final class Edges {

  private static final int LARGEST = Integer.MAX_VALUE - 8;

  private long[] edge;
  private int size;

  Edges(int capacity) {
    this.edge = new long[capacity];
  }

  /** Adds an edge; false if the buffer has no room for another distinct edge. */
  boolean add(int i, int j) {
    edge[size++] = (long) i << 32 | j;
    if (size < edge.length) {
      return true;
    }
    distinct();
    return size < edge.length / 4 * 3L;
  }

  /** Adds the cliques of a pattern. Calls {@code full} whenever the buffer is full. */
  void addClique(int[] column, int from, int to, Runnable full) {
    if (to - from == 1) {
      addOr(column[from], column[from], full);
    }
    for (int a = from; a < to; a++) {
      for (int b = a + 1; b < to; b++) {
        addOr(column[a], column[b], full);
      }
    }
  }

  /**
   * Adds the edges of a list: from its first column to each other column, or (i, i) if it has only
   * one.
   */
  void addList(int[] column, int from, int to, Runnable full) {
    for (int b = Math.min(from + 1, to - 1); b < to; b++) {
      addOr(column[from], column[b], full);
    }
  }

  private void addOr(int i, int j, Runnable full) {
    if (!add(i, j)) {
      full.run();
    }
  }

  /** Doubles the buffer. */
  void grow() {
    if (edge.length == LARGEST) {
      throw new IndexOverflowException(
          "the graph of A'A has more than 2^31 edges in one of its parts: use more partitions",
          "edges",
          edge.length);
    }
    edge = Arrays.copyOf(edge, (int) Math.min(2L * edge.length, LARGEST));
  }

  private void distinct() {
    Arrays.sort(edge, 0, size);
    int kept = 0;
    for (int k = 0; k < size; k++) {
      if (k == 0 || edge[k] != edge[k - 1]) {
        edge[kept++] = edge[k];
      }
    }
    size = kept;
  }

  /**
   * The lists of the columns {@code part}, {@code part + parts}, ...: each column, then its
   * neighbours of larger number, ascending.
   */
  Patterns lists(int part, int parts) {
    distinct();
    int count = 0;
    int entries = 0;
    for (int k = 0; k < size; k++) {
      int i = (int) (edge[k] >>> 32);
      if (i % parts == part) {
        boolean begins = k == 0 || (int) (edge[k - 1] >>> 32) != i;
        count += begins ? 1 : 0;
        entries = Math.addExact(entries, (begins ? 1 : 0) + ((int) edge[k] == i ? 0 : 1));
      }
    }
    var out = new Patterns(new long[count], new int[count + 1], new int[entries]);
    Arrays.fill(out.multiplicity(), 1);
    int list = -1;
    int at = 0;
    for (int k = 0; k < size; k++) {
      int i = (int) (edge[k] >>> 32);
      if (i % parts == part) {
        if (k == 0 || (int) (edge[k - 1] >>> 32) != i) {
          list++;
          out.column()[at++] = i;
        }
        if ((int) edge[k] != i) {
          out.column()[at++] = (int) edge[k];
        }
        out.start()[list + 1] = at;
      }
    }
    return out;
  }

  /** Removes all edges. */
  void clear() {
    size = 0;
  }
}
