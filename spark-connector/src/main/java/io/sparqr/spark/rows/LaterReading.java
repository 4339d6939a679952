/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.rows;

import io.sparqr.error.InputChangedException;
import io.sparqr.error.SparseQrException;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.plan.Readings;
import java.util.Collections;
import java.util.Iterator;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A repeated reading of a partition: row by row, and compared at its end with the first reading. Or
 * the rows that the first reading left, which cannot differ from it. The check is made where the
 * rows are read, so that it also covers a recomputation by Spark after the loss of an executor, at
 * any time. Not thread-safe.
 */
public final class LaterReading {

  private final RowReader reader;
  private final int partition;
  private final Iterator<SparseRow> rows;
  private final @Nullable Readings first;
  private final boolean labels;

  /** The rows, if they are not read again. */
  private final ParsedRows.@Nullable Cursor left;

  private final @Nullable RowRhs leftRhs;

  private boolean ended;
  private @Nullable InputChangedException changed;

  /**
   * Starts a reading.
   *
   * @param first fingerprints of every partition, if there are any
   * @param labels whether right-hand sides must be the same, too
   */
  public LaterReading(
      RowReader reader,
      int partition,
      Iterator<SparseRow> rows,
      @Nullable Readings first,
      boolean labels) {
    this.reader = reader;
    this.partition = partition;
    this.rows = rows;
    this.first = first;
    this.labels = labels;
    this.left = null;
    this.leftRhs = null;
  }

  /** The rows left by the first reading. */
  LaterReading(RowReader reader, int partition, HeldRows.Left left) {
    this.reader = reader;
    this.partition = partition;
    this.rows = Collections.emptyIterator();
    this.first = null;
    this.labels = true;
    this.left = left.rows().cursor();
    this.leftRhs = left.rhs();
  }

  /**
   * Moves the reader to the next row of positive weight.
   *
   * @return false at the end, after which {@link #changed()} is available
   */
  public boolean next() {
    if (left != null && leftRhs != null) {
      return nextLeft(left, leftRhs);
    }
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

  private boolean nextLeft(ParsedRows.Cursor left, RowRhs leftRhs) {
    if (!left.next()) {
      return false;
    }
    left.take(reader);
    leftRhs.take(left, reader);
    return true;
  }

  private boolean read(SparseRow row) {
    try {
      return reader.read(row);
    } catch (SparseQrException e) {
      if (first == null || !labels) {
        // Rows with new right-hand sides: these are read for the first time.
        throw e;
      }
      ended = true;
      changed = first.unreadable(partition, e);
      return false;
    }
  }

  /** After the end: the error, if this reading differs. */
  public Optional<InputChangedException> changed() {
    return Optional.ofNullable(changed);
  }

  /**
   * Reads to the end and returns whether the reading differs, which explains why a row did not fit
   * the plan.
   */
  public boolean isAnother() {
    while (next()) {
      // Only to complete the reading.
    }
    return changed != null;
  }
}
