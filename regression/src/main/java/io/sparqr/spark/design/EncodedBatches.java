/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.design;

import io.sparqr.spark.internals.TableRow;
import io.sparqr.spark.rows.InputPlace;
import java.util.Iterator;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;

/**
 * A partition's rows, encoded in batches on demand; skipped rows count in row numbers, too. The
 * last batch has the numbers of those.
 */
final class EncodedBatches implements Iterator<RowBatch> {

  private final int partition;
  private final Iterator<TableRow> rows;
  private final RowEncoder encoder;
  private final TableCells cells = new TableCells();
  private final int columns;
  private final int keys;
  private long position = -1;
  private @Nullable RowBatch next;

  EncodedBatches(int partition, Iterator<TableRow> rows, Coding coding) {
    this.partition = partition;
    this.rows = rows;
    this.encoder = new RowEncoder(coding);
    this.columns = coding.columns();
    this.keys = coding.options().clusters().size() + coding.keyed().size();
  }

  @Override
  public boolean hasNext() {
    if (next == null && rows.hasNext()) {
      var batch = new RowBatch(columns, keys);
      while (!batch.full() && rows.hasNext()) {
        position++;
        encoder.fit(cells.at(rows.next()), this::place, batch);
      }
      if (!rows.hasNext()) {
        batch.leaveOut(encoder.leftOut());
      }
      next = batch.empty() && batch.leftOut() == null ? null : batch.trimmed();
    }
    return next != null;
  }

  private String place() {
    return InputPlace.of(position, partition);
  }

  @Override
  public RowBatch next() {
    RowBatch batch = hasNext() ? next : null;
    if (batch == null) {
      throw new NoSuchElementException("the partition has no more rows");
    }
    next = null;
    return batch;
  }
}
