/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.pattern;

import io.sparqr.error.SparseQrException;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.rows.HeldRows;
import io.sparqr.spark.rows.RowCollector;
import io.sparqr.spark.rows.RowReader;
import io.sparqr.sparse.SparsityPattern.FingerprintSum;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The first reading of one partition: checks its rows, finds their distinct patterns, or only the
 * fingerprint of these, and sums the columns' norms. Not thread-safe.
 */
final class PartitionScan {

  private final int partition;
  private final RowReader reader;
  private final boolean told;
  private final PatternTable table = new PatternTable();
  private final FingerprintSum print = new FingerprintSum();
  private final ChunkedColumnNorms norms = new ChunkedColumnNorms();

  /** For the rows, if they are left. */
  private final @Nullable RowCollector left;

  private double[] rhsMax = new double[0];
  private int maxIndex = -1;
  private boolean failed;

  /**
   * A scan before its rows.
   *
   * @param declared n, or -1 to take it from the rows
   * @param told whether to tell distinct patterns apart, or only to sum their fingerprint
   * @param left receives the rows, if anything does
   */
  PartitionScan(int partition, int declared, boolean told, @Nullable HeldRows left) {
    this.left = left == null ? null : left.collector(partition);
    this.partition = partition;
    this.told = told;
    this.reader = new RowReader(partition, declared);
  }

  /** Reads the rows, up to the first that is invalid; its error is in the result. */
  PartitionStats run(Iterator<SparseRow> in) {
    SparseQrException error;
    try (RowCollector collected = left) {
      error = read(in);
      if (collected != null && error == null) {
        HeldRows.leave(collected, reader.fingerprint());
      }
    }
    failed = error != null;
    return new PartitionStats(
        partition,
        reader.fingerprint(),
        table.sum(),
        print.of(0),
        reader.columns(),
        maxIndex,
        new RightHandSides(reader.rhsCount(), rhsMax),
        error);
  }

  /** Reads to the end, or to an error, which it returns. */
  private @Nullable SparseQrException read(Iterator<SparseRow> in) {
    try {
      while (in.hasNext()) {
        if (reader.read(in.next())) {
          count();
        }
      }
      return null;
    } catch (SparseQrException e) {
      return e;
    }
  }

  private void count() {
    int nz = reader.count();
    if (told) {
      table.add(reader.index(), 0, nz, 1);
    } else {
      print.add(reader.index(), 0, nz, 1);
    }
    if (left != null) {
      left.add(reader);
    }
    for (int k = 0; k < nz; k++) {
      norms.add(reader.index()[k], reader.value()[k]);
    }
    if (nz > 0) {
      maxIndex = Math.max(maxIndex, reader.index()[nz - 1]);
    }
    double[] b = reader.rhs();
    if (rhsMax.length != b.length) {
      rhsMax = new double[b.length];
    }
    for (int k = 0; k < b.length; k++) {
      rhsMax[k] = Math.max(rhsMax[k], Math.abs(b[k]));
    }
  }

  /**
   * The patterns and norms of the rows that were read; nothing if there was an error. The last
   * call.
   */
  RowTables tables() {
    return failed
        ? new RowTables(List.of(), new ColumnChunks())
        : new RowTables(told ? List.of(table.distinct()) : List.of(), norms.norms());
  }
}
