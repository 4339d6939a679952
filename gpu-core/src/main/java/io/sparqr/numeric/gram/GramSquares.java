/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.gram;

import io.sparqr.numeric.dense.ColumnStrips;
import java.util.Arrays;

/**
 * Squares of fronts that are eliminated, and triangles that wait for their parents. Chunks go in
 * batches, one of which takes no more than the largest square does, or is a single chunk: what is
 * there together depends on the tree alone, not on the number of threads.
 */
final class GramSquares {

  /** Doubles of a batch that is not divided. */
  private static final long LEAST = 1 << 23;

  private final GramShape shape;
  private final boolean[] thin;
  private final int rhs;

  /** By front: whether the low parts of all its strips are there together. */
  private final boolean[] waits;

  /** By front: doubles that its children leave. */
  private final long[] ofChildren;

  private final int[] batches;
  private final long most;

  /** Doubles that are there: what waits, and its peak. */
  private long live;

  private long peak;

  /** Sums up. O(fronts). */
  GramSquares(GramShape shape, GramChunks chunks, boolean[] thin, int rhs) {
    this(shape, chunks, thin, rhs, LEAST);
  }

  /**
   * As above.
   *
   * @param least doubles of a batch that is not divided
   */
  GramSquares(GramShape shape, GramChunks chunks, boolean[] thin, int rhs, long least) {
    this.shape = shape;
    this.thin = thin;
    this.rhs = rhs;
    ofChildren = new long[shape.fronts()];
    waits = new boolean[shape.fronts()];
    for (int k = 0; k < waits.length; k++) {
      int parent = shape.parent()[k];
      if (thin[k] && parent >= 0) {
        waits[parent] |= GramChildren.isDense(shape, k, columns(parent));
      }
    }
    long limit = least;
    for (int k = 0; k < shape.fronts(); k++) {
      limit = Math.max(limit, square(k) + low(k));
    }
    int[] end = new int[chunks.chunk.length];
    int count = 0;
    long waiting = 0;
    long batch = 0;
    long all = 0;
    long leaves = 0;
    for (int c = 0; c < end.length; c++) {
      live = 0;
      peak = 0;
      add(chunks.chunk[c]);
      if (batch > 0 && peak > limit - batch) {
        end[count++] = c;
        waiting += leaves;
        batch = 0;
        leaves = 0;
      }
      batch += peak;
      leaves += live;
      all = Math.max(all, waiting + batch);
    }
    if (end.length > 0) {
      end[count++] = end.length;
    }
    batches = Arrays.copyOf(end, count);
    live = waiting + leaves;
    peak = all;
    add(chunks.top);
    most = peak;
  }

  /** The ends of the batches, ascending. */
  int[] batches() {
    return batches;
  }

  /** The most doubles. */
  long most() {
    return most;
  }

  private void add(int[] fronts) {
    for (int k : fronts) {
      int parent = shape.parent()[k];
      peak = Math.max(peak, live + square(k) + low(k));
      live -= ofChildren[k];
      if (parent >= 0 && !thin[k]) {
        long tail = shape.tail(k);
        long left = tail * (tail + 1) / 2;
        peak = Math.max(peak, live + square(k) + left);
        live += left;
        ofChildren[parent] += left;
      }
    }
  }

  /** Doubles of a front's matrix; a thin one has none. */
  private long square(int k) {
    int n = columns(k);
    return thin[k] ? 0 : ColumnStrips.length(n, shape.parent()[k] < 0 ? (long) n + rhs : n);
  }

  /** Doubles beside it while it is summed. */
  private long low(int k) {
    return thin[k] ? 0 : GramMatrix.lowLength(columns(k), waits[k]);
  }

  private int columns(int k) {
    return shape.pivots(k) + shape.tail(k);
  }
}
