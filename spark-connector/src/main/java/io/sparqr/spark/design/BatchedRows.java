/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.design;

import io.sparqr.spark.SparseRow;
import java.util.Collections;
import java.util.Iterator;

/** The rows of some batches, one after the other. */
final class BatchedRows implements Iterator<SparseRow> {

  private final Iterator<RowBatch> batches;
  private Iterator<SparseRow> rows = Collections.emptyIterator();

  BatchedRows(Iterator<RowBatch> batches) {
    this.batches = batches;
  }

  @Override
  public boolean hasNext() {
    while (!rows.hasNext() && batches.hasNext()) {
      rows = batches.next().iterator();
    }
    return rows.hasNext();
  }

  @Override
  public SparseRow next() {
    // of an empty batch the next one is asked first
    hasNext();
    return rows.next();
  }
}
