/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.design;

import io.sparqr.spark.rows.InputPlace;
import java.util.Iterator;
import java.util.NoSuchElementException;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataType;

/** A partition's rows, encoded in batches on demand; skipped rows count in row numbers, too. */
final class EncodedBatches implements Iterator<RowBatch> {

  private final int partition;
  private final Iterator<InternalRow> rows;
  private final RowEncoder encoder;
  private final InternalCells cells;
  private final int columns;
  private final int firstKey;
  private final int fields;
  private long position = -1;
  private RowBatch next;

  EncodedBatches(
      int partition, Iterator<InternalRow> rows, Design design, DataType[] types, int firstKey) {
    this.partition = partition;
    this.rows = rows;
    this.encoder = new RowEncoder(design);
    this.cells = new InternalCells(types);
    this.columns = design.columns();
    this.firstKey = firstKey;
    this.fields = types.length;
  }

  @Override
  public boolean hasNext() {
    if (next == null && rows.hasNext()) {
      var batch = new RowBatch(columns, fields - firstKey);
      while (!batch.full() && rows.hasNext()) {
        position++;
        if (hasKeys(cells.at(rows.next()))) {
          int before = batch.rows();
          encoder.fit(cells, this::place, batch);
          for (int f = firstKey; f < fields && batch.rows() > before; f++) {
            batch.key(f - firstKey, cells.text(f));
          }
        }
      }
      next = batch.empty() ? null : batch.trimmed();
    }
    return next != null;
  }

  private boolean hasKeys(Cells row) {
    for (int f = firstKey; f < fields; f++) {
      if (row.missing(f, LevelKind.TEXT)) {
        encoder.lacksKey(row, f - firstKey, this::place);
        return false;
      }
    }
    return true;
  }

  private String place() {
    return InputPlace.of(position, partition);
  }

  @Override
  public RowBatch next() {
    if (!hasNext()) {
      throw new NoSuchElementException("the partition has no more rows");
    }
    RowBatch batch = next;
    next = null;
    return batch;
  }
}
