/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.arrays;

import io.sparqr.spark.SparseRow;
import java.io.Serializable;
import java.util.Iterator;

/**
 * Consecutive rows of an {@link ArrayFolder} as bytes: what travels to the executors of a cluster.
 * A class and not a record: Kryo, which many Spark installations use, cannot read records.
 */
final class ArraySlice implements Serializable {

  private static final long serialVersionUID = 1;

  private final int columns;
  private final int rhs;
  private final long rows;
  private final byte[] starts;
  private final byte[] indices;
  private final byte[] data;
  private final byte[] labels;

  /** Null: all are 1. */
  private final byte[] weights;

  /** Takes the arrays as they are. */
  ArraySlice(
      int columns,
      int rhs,
      long rows,
      byte[] starts,
      byte[] indices,
      byte[] data,
      byte[] labels,
      byte[] weights) {
    this.columns = columns;
    this.rhs = rhs;
    this.rows = rows;
    this.starts = starts;
    this.indices = indices;
    this.data = data;
    this.labels = labels;
    this.weights = weights;
  }

  /** The rows. */
  Iterator<SparseRow> rows() {
    return new RowIterator(
        columns,
        rhs,
        rows,
        new RowIterator.Sources(
            Numbers.of(starts, ArrayFolder.INDPTR),
            Numbers.of(indices, ArrayFolder.INDICES),
            Numbers.of(data, ArrayFolder.DATA),
            rhs == 0 ? null : Numbers.of(labels, ArrayFolder.LABELS),
            weights == null ? null : Numbers.of(weights, ArrayFolder.WEIGHTS)));
  }
}
