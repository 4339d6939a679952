/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.design;

import io.sparqr.spark.SparseRow;
import io.sparqr.spark.rows.InputPlace;
import java.util.Iterator;
import java.util.NoSuchElementException;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataType;

/**
 * A partition's rows, encoded as they are asked for; rows that are left out are counted all the
 * same.
 */
final class EncodedRows implements Iterator<SparseRow> {

  private final int partition;
  private final Iterator<InternalRow> rows;
  private final RowEncoder encoder;
  private final InternalCells cells;
  private long position = -1;
  private SparseRow next;

  EncodedRows(int partition, Iterator<InternalRow> rows, RowEncoder encoder, DataType[] types) {
    this.partition = partition;
    this.rows = rows;
    this.encoder = encoder;
    this.cells = new InternalCells(types);
  }

  @Override
  public boolean hasNext() {
    while (next == null && rows.hasNext()) {
      position++;
      next = encoder.fit(cells.at(rows.next()), this::place);
    }
    return next != null;
  }

  private String place() {
    return InputPlace.of(position, partition);
  }

  @Override
  public SparseRow next() {
    if (!hasNext()) {
      throw new NoSuchElementException("the partition has no more rows");
    }
    SparseRow row = next;
    next = null;
    return row;
  }
}
