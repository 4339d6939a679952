/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.arrays;

import io.sparqr.spark.model.SparseRow;
import java.util.Iterator;

/**
 * Consecutive rows of an {@link ArrayFolder} as bytes, for sending: starts, indices, data, labels
 * (if there are any) and weights (unless all are 1).
 */
final class ArraySlice {

  private final int columns;
  private final byte[][] arrays;

  /** Shares the arrays: starts, indices, data, labels, weights. */
  ArraySlice(int columns, byte[]... arrays) {
    this.columns = columns;
    this.arrays = arrays;
  }

  /** The five arrays, without copies. */
  byte[][] arrays() {
    return arrays;
  }

  /** The number of rows. */
  long size() {
    return arrays[0].length / Long.BYTES - 1;
  }

  /** The number of labels a row. */
  int rhs() {
    return (int) (arrays[3].length / Double.BYTES / Math.max(1, size()));
  }

  /** Whether there are weights. */
  boolean weighted() {
    return arrays[4].length > 0;
  }

  /** The rows of this slice, read as they are asked for. */
  Iterator<SparseRow> rows() {
    return new RowIterator(
        columns,
        rhs(),
        size(),
        new RowIterator.Sources(
            Numbers.of(arrays[0], ArrayFolder.INDPTR),
            Numbers.of(arrays[1], ArrayFolder.INDICES),
            Numbers.of(arrays[2], ArrayFolder.DATA),
            rhs() == 0 ? null : Numbers.of(arrays[3], ArrayFolder.LABELS),
            weighted() ? Numbers.of(arrays[4], ArrayFolder.WEIGHTS) : null));
  }
}
