/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.gram;

import io.sparqr.numeric.dense.StaircaseQr;

/**
 * Memory of a tree of fronts by its Gram matrix: R; the square of a front, and those of the fronts
 * below that wait for it, in a star of many fronts far more than R; and vectors. As if all chunks
 * were worked on at once, so that it does not depend on the number of threads.
 */
final class GramBytes {

  /** Vectors of all columns that are there together, as doubles of each. */
  private static final int VECTORS = 12;

  private final GramShape shape;
  private final boolean[] thin;
  private final int rhs;

  /** By front: entries of its children's squares. */
  private final long[] ofChildren;

  /** Entries of squares that wait. */
  private long live;

  private long peak;

  private GramBytes(GramShape shape, boolean[] thin, int rhs) {
    this.shape = shape;
    this.thin = thin;
    this.rhs = rhs;
    ofChildren = new long[shape.fronts()];
  }

  /**
   * Bytes.
   *
   * @param s width of the vectors
   */
  static long of(RowPieces pieces, GramShape shape, int rhs, long s) {
    var chunks = new GramChunks(shape);
    var bytes = new GramBytes(shape, GramFronts.thin(shape, pieces), rhs);
    long squares = bytes.squares(chunks);
    long r = 0;
    for (int k = 0; k < shape.fronts() - 1; k++) {
      r += (long) shape.rows(k) * (shape.pivots(k) + shape.tail(k) + rhs);
    }
    long units = chunks.chunk.length + RowProducts.GROUPS;
    long vectors = s * (VECTORS * (long) shape.size() + 2 * units * chunks.topColumns);
    return 8 * (r + squares + vectors);
  }

  /** The most entries of squares. */
  private long squares(GramChunks chunks) {
    long waiting = 0;
    long below = 0;
    for (int[] fronts : chunks.chunk) {
      live = 0;
      peak = 0;
      add(fronts);
      waiting += live;
      below += peak;
    }
    live = waiting;
    peak = below;
    add(chunks.top);
    return peak;
  }

  private void add(int[] fronts) {
    for (int k : fronts) {
      int parent = shape.parent()[k];
      long square = square(k);
      peak = Math.max(peak, live + square);
      live -= ofChildren[k];
      if (parent >= 0) {
        live += square;
        ofChildren[parent] += square;
      }
    }
  }

  /** Entries of a front's square; a thin one has none. */
  private long square(int k) {
    if (thin[k]) {
      return 0;
    }
    int n = shape.pivots(k) + shape.tail(k);
    long ld = GramFronts.leadingDimension(n);
    return shape.parent()[k] < 0 ? StaircaseQr.length(ld, (long) n + rhs) : ld * n;
  }
}
