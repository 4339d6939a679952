/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.design;

import io.sparqr.spark.model.SparseRow;
import java.util.Collections;
import java.util.Iterator;
import java.util.NoSuchElementException;

/** The rows of a sequence of batches. */
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
    if (!hasNext()) {
      throw new NoSuchElementException("the batches have no more rows");
    }
    return rows.next();
  }
}
