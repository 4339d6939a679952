/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.rows;

import io.sparqr.error.InputChangedException;
import io.sparqr.error.SparseQrException;
import io.sparqr.spark.SparseRow;
import io.sparqr.spark.plan.Readings;
import java.util.Iterator;
import java.util.Optional;

/**
 * A reading of a partition that was read before: row by row, and at its end held against what it
 * was then. It is checked where the rows are read, so that what a lost executor makes Spark compute
 * once more is checked, too, whenever that is. Not thread-safe.
 */
public final class LaterReading {

  private final RowReader reader;
  private final int partition;
  private final Iterator<SparseRow> rows;
  private final Readings first;
  private final boolean labels;
  private boolean ended;
  private InputChangedException changed;

  /**
   * Begins a reading.
   *
   * @param first what every partition had; null if nothing is known of it
   * @param labels whether right-hand sides have to be the same, too
   */
  public LaterReading(
      RowReader reader, int partition, Iterator<SparseRow> rows, Readings first, boolean labels) {
    this.reader = reader;
    this.partition = partition;
    this.rows = rows;
    this.first = first;
    this.labels = labels;
  }

  /**
   * Moves the reader to the next row that counts.
   *
   * @return false at the end, where {@link #changed()} is known
   */
  public boolean next() {
    while (!ended) {
      if (!rows.hasNext()) {
        ended = true;
        if (first != null) {
          changed = first.change(partition, reader.fingerprint(), labels).orElse(null);
        }
      } else if (read(rows.next())) {
        return true;
      }
    }
    return false;
  }

  private boolean read(SparseRow row) {
    try {
      return reader.read(row);
    } catch (SparseQrException e) {
      if (first == null || !labels) {
        // rows with new right-hand sides: these are read for the first time
        throw e;
      }
      ended = true;
      changed = first.unreadable(partition, e);
      return false;
    }
  }

  /** After the end: the error, if this reading was another one. */
  public Optional<InputChangedException> changed() {
    return Optional.ofNullable(changed);
  }

  /**
   * Reads to the end and tells whether the reading was another one: why a row did not fit what was
   * planned for it.
   */
  public boolean isAnother() {
    while (next()) {
      // only to have read it
    }
    return changed != null;
  }
}
