/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.solve;

import io.sparqr.error.DimensionMismatchException;
import io.sparqr.error.InputChangedException;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.plan.Fingerprint;
import io.sparqr.spark.plan.Readings;
import io.sparqr.spark.rows.LaterReading;
import io.sparqr.spark.rows.ParsedRows;
import io.sparqr.spark.rows.RhsReader;
import io.sparqr.spark.rows.RowCollector;
import io.sparqr.spark.rows.RowReader;
import io.sparqr.spark.rows.RowRhs;
import io.sparqr.spark.rows.RowSource;
import io.sparqr.spark.wire.ChangeCodec;
import io.sparqr.spark.wire.ObjectCodec;
import io.sparqr.spark.wire.VectorCodec;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import scala.Tuple2;

/** A pass over the rows of one partition, or over their right-hand sides, in a task. */
final class ResidualScan {

  private final int partition;
  private final RowReader reader;
  private final LaterReading rows;
  private final ResidualSums sums;
  private final NormSum frobenius = new NormSum();

  /** Null without a copy. */
  private final RowCollector copy;

  /** A partition's rows with their expected fingerprints. */
  record Known(Iterator<SparseRow> rows, Readings readings, boolean labels) {}

  /**
   * Figures of a partition.
   *
   * @param residual norms of the residual, one for each right-hand side; none without rows
   * @param rhs norms of the right-hand sides
   * @param fingerprint of this reading
   */
  record Part(
      int partition, double[] residual, double[] rhs, double frobenius, Fingerprint fingerprint)
      implements Serializable {}

  /**
   * What a scan leaves in this JVM.
   *
   * @param copy of the rows; null: none
   * @param rhs of the rows; null: none
   */
  record Left(Part part, ResidualSums sums, RowCopies.Copy copy, RowRhs rhs) {}

  /**
   * A scan.
   *
   * @param at where the residual is taken
   * @param copy receives the rows; null: nothing does
   */
  ResidualScan(int partition, int columns, ResidualAt at, Known known, RowCollector copy) {
    this.partition = partition;
    this.reader = new RowReader(partition, columns);
    this.rows = new LaterReading(reader, partition, known.rows, known.readings, known.labels);
    this.sums = new ResidualSums(at);
    this.copy = copy;
  }

  /** Leaves everything in this JVM; empty, with a change in {@link #change}, if the rows differ. */
  Optional<Left> left() {
    read();
    if (rows.changed().isPresent()) {
      return Optional.empty();
    }
    if (copy != null) {
      copy.end(reader);
      if (copy.complete()) {
        var kept = new RowCopies.Copy(copy.rows(reader.fingerprint()), frobenius.norm());
        RowRhs rhs = copy.rhs();
        copy.leave(kept);
        return Optional.of(new Left(part(), sums, kept, rhs));
      }
    }
    return Optional.of(new Left(part(), sums, null, null));
  }

  /** The change of the rows, after the scan. */
  InputChangedException change() {
    return rows.changed().orElseThrow();
  }

  /** These as frames by reducer, or the change of the rows for each. */
  List<Tuple2<Integer, byte[]>> frames(int reducers) {
    read();
    var out = new ArrayList<Tuple2<Integer, byte[]>>();
    if (rows.changed().isPresent()) {
      byte[] change = ChangeCodec.encode(rows.changed().get());
      for (int k = 0; k < reducers; k++) {
        out.add(new Tuple2<>(k, change));
      }
      return out;
    }
    out.add(new Tuple2<>(partition % reducers, ObjectCodec.encode(part())));
    var chunks = new ArrayList<byte[]>();
    sums.gradient().encode(partition, chunks);
    for (byte[] c : chunks) {
      out.add(new Tuple2<>(VectorCodec.chunk(c) % reducers, c));
    }
    return out;
  }

  private Part part() {
    return new Part(
        partition, sums.norms(), sums.rhsNorms(), frobenius.norm(), reader.fingerprint());
  }

  private void read() {
    while (rows.next() && added()) {
      // Added to the sums.
    }
  }

  /** False if a row has more right-hand sides than x, which means that the rows have changed. */
  private boolean added() {
    try {
      add();
      return true;
    } catch (RuntimeException e) {
      if (!rows.isAnother()) {
        throw e;
      }
      return false;
    }
  }

  private void add() {
    for (int e = 0; e < reader.count(); e++) {
      frobenius.add(reader.value()[e]);
    }
    double[] b = reader.rhs();
    sums.add(reader.index(), reader.value(), 0, reader.count(), b, 0, b.length);
    if (copy != null) {
      copy.add(reader);
    }
  }

  /**
   * A pass over the right-hand sides alone.
   *
   * @param rows the rows that they belong to
   * @param labels one array a row
   * @param at as in the constructor
   * @param keep whether the right-hand sides are left: not if the labels can be read again
   */
  static Left relabeled(
      int partition,
      RowCopies.Copy copy,
      Iterator<double[]> labels,
      ResidualAt residualAt,
      boolean keep) {
    var reader = new RhsReader(partition);
    var sums = new ResidualSums(residualAt);
    int expected = residualAt.width();
    RowRhs rhs = keep ? copy.rows().zeroRhs(0) : null;
    ParsedRows.Cursor at = copy.rows().cursor();
    long count = 0;
    boolean fits = true;
    boolean row = at.next();
    for (; row && labels.hasNext(); row = at.next()) {
      double[] of = labels.next();
      reader.check(of, count);
      reader.read(of, at.scale(), count);
      if (count == 0) {
        fits = expected < 0 || expected == reader.count();
        rhs = keep ? copy.rows().zeroRhs(reader.count()) : null;
      }
      if (keep) {
        rhs.set(at, reader.rhs());
      }
      if (fits) {
        sums.add(at, reader.rhs());
      }
      count++;
    }
    if (row || labels.hasNext()) {
      throw RowSource.misaligned(row, count);
    }
    if (!fits) {
      throw widths(partition, reader.count(), expected);
    }
    return left(partition, copy, sums, rhs);
  }

  /** The error for a partition with another number of right-hand sides than expected. */
  static DimensionMismatchException widths(int partition, int found, int expected) {
    return new DimensionMismatchException(
        "rows of partition %d have %d right-hand sides, expected %d"
            .formatted(partition, found, expected),
        "right-hand sides",
        expected,
        found);
  }

  /** The sums of copied rows with their right-hand sides. */
  static Left of(int partition, RowCopies.Copy copy, RowRhs rhs, ResidualAt at) {
    var sums = new ResidualSums(at);
    sums.add(copy.rows(), rhs);
    return left(partition, copy, sums, rhs);
  }

  private static Left left(int partition, RowCopies.Copy copy, ResidualSums sums, RowRhs rhs) {
    Fingerprint read = copy.rows().fingerprint();
    var counts = new Fingerprint(read.rows(), read.nonzeros(), 0, 0, 0, 0);
    var part = new Part(partition, sums.norms(), sums.rhsNorms(), copy.frobenius(), counts);
    return new Left(part, sums, copy, rhs);
  }
}
