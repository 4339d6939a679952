/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.arrays;

import io.sparqr.spark.model.SparseRow;
import java.io.Serializable;
import java.util.Iterator;

/**
 * Consecutive rows of an {@link ArrayFolder} as bytes, for sending to the executors of a cluster. A
 * class rather than a record, because Kryo, which many Spark installations use, cannot read
 * records.
 */
final class ArraySlice implements Serializable {

  private static final long serialVersionUID = 1;

  private final int columns;
  private final int rhs;
  private final long rows;

  /** Starts, indices, data, labels (if rhs is not 0) and weights (unless all are 1). */
  private final byte[][] arrays;

  /** Shares the arrays: starts, indices, data, labels, weights. */
  ArraySlice(int columns, int rhs, long rows, byte[]... arrays) {
    this.columns = columns;
    this.rhs = rhs;
    this.rows = rows;
    this.arrays = arrays;
  }

  /** The rows of this slice, read as they are asked for. */
  Iterator<SparseRow> rows() {
    return new RowIterator(
        columns,
        rhs,
        rows,
        new RowIterator.Sources(
            Numbers.of(arrays[0], ArrayFolder.INDPTR),
            Numbers.of(arrays[1], ArrayFolder.INDICES),
            Numbers.of(arrays[2], ArrayFolder.DATA),
            rhs == 0 ? null : Numbers.of(arrays[3], ArrayFolder.LABELS),
            arrays[4].length == 0 ? null : Numbers.of(arrays[4], ArrayFolder.WEIGHTS)));
  }
}
