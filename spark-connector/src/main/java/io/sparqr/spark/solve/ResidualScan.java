/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.solve;

import io.sparqr.error.DimensionMismatchException;
import io.sparqr.error.InputChangedException;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.parts.Found;
import io.sparqr.spark.parts.OfPartition;
import io.sparqr.spark.parts.Pieces;
import io.sparqr.spark.pattern.ColumnChunks;
import io.sparqr.spark.pattern.ColumnSums;
import io.sparqr.spark.plan.Fingerprint;
import io.sparqr.spark.plan.Readings;
import io.sparqr.spark.rows.LaterReading;
import io.sparqr.spark.rows.ParsedRows;
import io.sparqr.spark.rows.RhsReader;
import io.sparqr.spark.rows.RowCollector;
import io.sparqr.spark.rows.RowReader;
import io.sparqr.spark.rows.RowRhs;
import io.sparqr.spark.rows.RowSource;
import java.util.Iterator;
import java.util.List;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** A pass over the rows of one partition, or over their right-hand sides, in a task. */
final class ResidualScan {

  private static final double[] NONE = {};

  private final int partition;
  private final RowReader reader;
  private final LaterReading rows;
  private final ResidualSums sums;
  private final NormSum frobenius = new NormSum();

  /** For a copy. */
  private final @Nullable RowCollector copy;

  /** A partition's rows with their expected fingerprints. */
  record Known(Iterator<SparseRow> rows, @Nullable Readings readings, boolean labels) {}

  /**
   * Figures of a partition.
   *
   * @param residual norms of the residual, one for each right-hand side; none without rows
   * @param rhs norms of the right-hand sides
   * @param fingerprint of this reading
   * @param change if the rows have changed; then nothing else counts
   */
  record Part(
      int partition,
      double[] residual,
      double[] rhs,
      double frobenius,
      Fingerprint fingerprint,
      @Nullable InputChangedException change)
      implements OfPartition {}

  /**
   * What a scan leaves.
   *
   * @param gradient A'r, interleaved
   * @param copy of the rows, if there is one
   * @param rhs of the rows, with a copy
   */
  record Left(ColumnChunks gradient, RowCopies.@Nullable Copy copy, @Nullable RowRhs rhs) {

    /** The gradients are added; copies stay where they are. */
    enum Added implements Pieces<Left> {
      INSTANCE;

      @Override
      public long bytes(Left left) {
        return ColumnSums.INSTANCE.bytes(left.gradient);
      }

      @Override
      public void cut(int partition, Left left, int keys, BiConsumer<Integer, byte[]> out) {
        ColumnSums.INSTANCE.cut(partition, left.gradient, keys, out);
      }

      @Override
      public Merging merging() {
        return ColumnSums.INSTANCE.merging();
      }

      @Override
      public Left table(List<byte[]> frames) {
        return new Left(ColumnSums.INSTANCE.table(frames), null, null);
      }
    }
  }

  /**
   * A scan.
   *
   * @param at where the residual is taken
   * @param copy receives the rows, if anything does
   */
  ResidualScan(
      int partition, int columns, ResidualAt at, Known known, @Nullable RowCollector copy) {
    this.partition = partition;
    this.reader = new RowReader(partition, columns);
    this.rows = new LaterReading(reader, partition, known.rows, known.readings, known.labels);
    this.sums = new ResidualSums(at);
    this.copy = copy;
  }

  /** Reads the rows. */
  Found<Part, Left> run() {
    while (rows.next() && added()) {
      // Added to the sums.
    }
    if (rows.changed().isPresent()) {
      InputChangedException change = rows.changed().get();
      var none = new Part(partition, NONE, NONE, 0, Fingerprint.ofNothing(), change);
      return new Found<>(none, new Left(new ColumnChunks(), null, null));
    }
    double norm = frobenius.norm();
    if (copy != null) {
      copy.end(reader);
      if (copy.complete()) {
        var kept = new RowCopies.Copy(copy.rows(reader.fingerprint()), norm);
        RowRhs rhs = copy.rhs();
        copy.leave(kept);
        return found(partition, reader.fingerprint(), norm, sums, kept, rhs);
      }
    }
    return found(partition, reader.fingerprint(), norm, sums, null, null);
  }

  private static Found<Part, Left> found(
      int partition,
      Fingerprint read,
      double frobenius,
      ResidualSums sums,
      RowCopies.@Nullable Copy copy,
      @Nullable RowRhs rhs) {
    return new Found<>(
        new Part(partition, sums.norms(), sums.rhsNorms(), frobenius, read, null),
        new Left(sums.gradient(), copy, rhs));
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
   * @param copy the rows that they belong to
   * @param labels one array a row
   * @param residualAt as in the constructor
   */
  static Found<Part, Left> relabeled(
      int partition, RowCopies.Copy copy, Iterator<double[]> labels, ResidualAt residualAt) {
    var reader = new RhsReader(partition);
    var sums = new ResidualSums(residualAt);
    int expected = residualAt.width();
    RowRhs rhs = copy.rows().zeroRhs(0);
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
        rhs = copy.rows().zeroRhs(reader.count());
      }
      rhs.set(at, reader.rhs());
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
    return found(partition, copy, sums, rhs);
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
  static Found<Part, Left> of(int partition, RowCopies.Copy copy, RowRhs rhs, ResidualAt at) {
    var sums = new ResidualSums(at);
    sums.add(copy.rows(), rhs);
    return found(partition, copy, sums, rhs);
  }

  private static Found<Part, Left> found(
      int partition, RowCopies.Copy copy, ResidualSums sums, RowRhs rhs) {
    Fingerprint read = copy.rows().fingerprint();
    var counts = new Fingerprint(read.rows(), read.nonzeros(), 0, 0, 0, 0);
    return found(partition, counts, copy.frobenius(), sums, copy, rhs);
  }
}
