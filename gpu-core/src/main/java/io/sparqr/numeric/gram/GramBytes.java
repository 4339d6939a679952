/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.gram;

/**
 * Memory of a tree of fronts by its Gram matrix: R; squares, and what waits for its parents ({@link
 * GramSquares}), in a star of many fronts far more than R; and vectors.
 */
final class GramBytes {

  /** Vectors of all columns that are there together, as doubles of each. */
  private static final int VECTORS = 12;

  private GramBytes() {}

  /**
   * Bytes.
   *
   * @param s width of the vectors
   */
  static long of(RowPieces pieces, GramShape shape, int rhs, long s) {
    var chunks = new GramChunks(shape);
    var squares = new GramSquares(shape, chunks, GramFronts.thin(shape, pieces), rhs);
    long r = 0;
    for (int k = 0; k < shape.fronts() - 1; k++) {
      r += (long) shape.rows(k) * (shape.pivots(k) + shape.tail(k) + rhs);
    }
    long units = chunks.chunk.length + RowProducts.GROUPS;
    long vectors = s * (VECTORS * (long) shape.size() + 2 * units * chunks.topColumns);
    return 8 * (r + squares.most() + vectors);
  }
}
