/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.gram;

import io.sparqr.numeric.dense.StaircaseQr;
import java.util.Arrays;

/**
 * Squares of fronts that are eliminated, and triangles that wait for their parents. The root's
 * square is there from the beginning; what its children leave waits for the end of their batch at
 * most. Chunks go in batches, one of which takes no more than the largest square below the root
 * does, or is a single chunk: what is there together depends on the tree alone, not on the number
 * of threads.
 */
final class GramSquares {

  /** Doubles of a batch that is not divided. */
  private static final long LEAST = 1 << 23;

  private final GramShape shape;
  private final boolean[] thin;
  private final int rhs;

  /** By front: doubles that its children leave. */
  private final long[] ofChildren;

  private final int root;
  private final boolean rootFirst;
  private final int[] batches;
  private final long most;

  /** Doubles that are there: what waits, and its peak. */
  private long live;

  private long peak;

  /** Doubles of it that wait for the root. */
  private long forRoot;

  /** Sums up the better of both ways. O(fronts). */
  static GramSquares of(GramShape shape, GramChunks chunks, boolean[] thin, int rhs) {
    return of(shape, chunks, thin, rhs, LEAST);
  }

  /**
   * As above.
   *
   * @param least doubles of a batch that is not divided
   */
  static GramSquares of(GramShape shape, GramChunks chunks, boolean[] thin, int rhs, long least) {
    var last = new GramSquares(shape, chunks, thin, rhs, least, false);
    var first = new GramSquares(shape, chunks, thin, rhs, least, true);
    return first.most < last.most ? first : last;
  }

  /**
   * One way.
   *
   * @param least doubles of a batch that is not divided
   */
  GramSquares(
      GramShape shape, GramChunks chunks, boolean[] thin, int rhs, long least, boolean rootFirst) {
    this.shape = shape;
    this.thin = thin;
    this.rhs = rhs;
    this.rootFirst = rootFirst;
    root = shape.fronts() - 1;
    ofChildren = new long[shape.fronts()];
    long limit = least;
    for (int k = 0; k < (rootFirst ? root : root + 1); k++) {
      limit = Math.max(limit, square(k));
    }
    int[] end = new int[chunks.chunk.length];
    int count = 0;
    long waiting = rootFirst ? square(root) : 0;
    long batch = 0;
    long all = waiting;
    long leaves = 0;
    for (int c = 0; c < end.length; c++) {
      live = 0;
      peak = 0;
      forRoot = 0;
      add(chunks.chunk[c]);
      if (batch > 0 && peak > limit - batch) {
        end[count++] = c;
        waiting += leaves;
        batch = 0;
        leaves = 0;
      }
      batch += peak;
      leaves += live - forRoot;
      all = Math.max(all, waiting + batch);
    }
    if (end.length > 0) {
      end[count++] = end.length;
    }
    batches = Arrays.copyOf(end, count);
    live = waiting + leaves;
    peak = all;
    for (int k : chunks.top) {
      forRoot = 0;
      add(k);
      live -= forRoot;
    }
    most = peak;
  }

  /** Whether the root is there from the beginning. */
  boolean rootFirst() {
    return rootFirst;
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
      add(k);
    }
  }

  private void add(int k) {
    if (k == root) {
      peak = Math.max(peak, rootFirst ? live : live + square(k));
      return;
    }
    peak = Math.max(peak, live + square(k));
    live -= ofChildren[k];
    if (!thin[k]) {
      int parent = shape.parent()[k];
      long tail = shape.tail(k);
      long left = tail * (tail + 1) / 2;
      peak = Math.max(peak, live + square(k) + left);
      live += left;
      ofChildren[parent] += left;
      forRoot += rootFirst && parent == root ? left : 0;
    }
  }

  /** Doubles of a front's square; a thin one has none. */
  private long square(int k) {
    if (thin[k]) {
      return 0;
    }
    int n = shape.pivots(k) + shape.tail(k);
    long ld = GramFronts.leadingDimension(n);
    return shape.parent()[k] < 0 ? StaircaseQr.length(ld, (long) n + rhs) : ld * n;
  }
}
