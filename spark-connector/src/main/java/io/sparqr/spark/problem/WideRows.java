/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.problem;

import io.sparqr.error.DimensionMismatchException;
import io.sparqr.error.MatrixFormatException;
import io.sparqr.error.SparseQrException;
import io.sparqr.spark.engine.JobScope;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.plan.Fingerprint;
import io.sparqr.spark.plan.Readings;
import io.sparqr.spark.rows.RowReader;
import io.sparqr.spark.wire.Frame;
import io.sparqr.spark.wire.ObjectCodec;
import io.sparqr.spark.wire.VectorCodec;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.jspecify.annotations.Nullable;

/**
 * Figures on the rows needed before the transpose can be factorized instead: whether there are
 * fewer rows than columns, the size of the entries, and finally the right-hand sides, which fit on
 * the driver because they have fewer values than x. Takes one pass over the rows for each of the
 * two.
 */
final class WideRows {

  private final JavaRDD<SparseRow> rows;
  private final int declared;
  private final List<Part> parts;
  private final int[] first;
  private final long count;
  private final int columns;

  /** The figures of one partition, without rows of weight 0. */
  private record Part(
      Fingerprint fingerprint,
      int rhsCount,
      int columns,
      int maxIndex,
      int exponent,
      @Nullable SparseQrException error)
      implements Serializable {}

  /**
   * The figures of all partitions.
   *
   * @param parts by partition
   * @param labels by partition, row by row; empty if not requested
   */
  private record Scan(List<Part> parts, List<double[]> labels) {}

  private WideRows(JavaRDD<SparseRow> rows, int declared) {
    this.rows = rows;
    this.declared = declared;
    this.parts = scan(false, null).parts;
    // int suffices, because this is used only if there are fewer rows than columns.
    this.first = new int[parts.size() + 1];
    long m = 0;
    int n = declared;
    for (int p = 0; p < parts.size(); p++) {
      m += parts.get(p).fingerprint.rows();
      first[p + 1] = (int) m;
      n = Math.max(n, Math.max(parts.get(p).columns, parts.get(p).maxIndex + 1));
    }
    this.count = m;
    this.columns = n;
  }

  /**
   * Reads the rows once.
   *
   * @param declared n, or -1
   */
  static WideRows scan(JavaRDD<SparseRow> rows, int declared) {
    return new WideRows(rows, declared);
  }

  /**
   * Whether the rows are fewer than the columns and have an entry.
   *
   * @throws MatrixFormatException if there is no row
   */
  boolean wide() {
    boolean zero = parts.stream().allMatch(p -> p.maxIndex < 0);
    if (count >= columns || zero && count > 0) {
      return false;
    }
    if (count == 0) {
      throw new MatrixFormatException("the input has no rows", "input", -1);
    }
    return true;
  }

  /** The number of columns, n. */
  int columns() {
    return columns;
  }

  /** The largest exponent of an entry. */
  int exponent() {
    return parts.stream().mapToInt(Part::exponent).max().orElse(0);
  }

  /** The fingerprints that every later reading must match. */
  Readings readings() {
    return new Readings(parts.stream().map(Part::fingerprint).toList());
  }

  /**
   * The right-hand sides from a second reading: m values each.
   *
   * @throws DimensionMismatchException if partitions disagree on their number
   * @throws io.sparqr.error.InputChangedException if it differs from the first
   */
  double[][] rightHandSides() {
    return labels(scan(true, readings()), first);
  }

  /** Scans all partitions; {@code before}: the fingerprints of the previous scan, if any. */
  private Scan scan(boolean labels, @Nullable Readings before) {
    int columns = declared;
    JavaRDD<byte[]> scanned =
        rows.mapPartitionsWithIndex((p, it) -> scan(p, it, columns, labels).iterator(), false);
    var all = new Scan(new ArrayList<>(), new ArrayList<>());
    for (byte[] frame :
        JobScope.run(
            JavaSparkContext.fromSparkContext(rows.context()),
            labels ? "right-hand sides of a wide system" : "shape of the system",
            scanned::collect)) {
      if (Frame.kind(frame) == Frame.Kind.CHUNK) {
        all.labels.add(VectorCodec.decodeChunk(frame));
        continue;
      }
      Part part = ObjectCodec.decode(frame, Part.class);
      all.parts.add(part);
      Optional<? extends SparseQrException> error = error(part, all.parts.size() - 1, before);
      if (error.isPresent()) {
        throw error.get();
      }
    }
    return all;
  }

  private static Optional<? extends SparseQrException> error(
      Part part, int p, @Nullable Readings before) {
    if (before == null) {
      return Optional.ofNullable(part.error);
    }
    return part.error == null
        ? before.change(p, part.fingerprint, true)
        : Optional.of(before.unreadable(p, part.error));
  }

  private static double[][] labels(Scan scan, int[] first) {
    double[][] b = null;
    for (int p = 0; p < scan.parts.size(); p++) {
      Part part = scan.parts.get(p);
      if (part.fingerprint.rows() == 0) {
        continue;
      }
      int width = part.rhsCount;
      b = b == null ? new double[width][first[scan.parts.size()]] : b;
      if (width != b.length) {
        throw new DimensionMismatchException(
            "rows of partition %d have %d right-hand sides, others %d"
                .formatted(p, width, b.length),
            "right-hand sides",
            b.length,
            width);
      }
      double[] labels = scan.labels.get(p);
      for (int i = 0; i < labels.length; i++) {
        b[i % width][first[p] + i / width] = labels[i];
      }
    }
    return Objects.requireNonNull(b);
  }

  /** A {@link Part} and, if requested, the labels row by row. */
  private static List<byte[]> scan(
      int partition, Iterator<SparseRow> in, int declared, boolean withLabels) {
    var reader = new RowReader(partition, declared);
    var labels = new Values();
    int maxIndex = -1;
    int exponent = -TransposedRows.MOST_EXPONENT;
    SparseQrException error = null;
    try {
      while (in.hasNext()) {
        if (reader.read(in.next())) {
          if (withLabels) {
            labels.add(reader.rhs());
          }
          if (reader.count() > 0) {
            maxIndex = Math.max(maxIndex, reader.index()[reader.count() - 1]);
            exponent = TransposedRows.exponent(reader.value(), reader.count(), exponent);
          }
        }
      }
    } catch (SparseQrException e) {
      error = e;
    }
    byte[] part =
        ObjectCodec.encode(
            new Part(
                reader.fingerprint(),
                reader.rhsCount(),
                reader.columns(),
                maxIndex,
                exponent,
                error));
    return withLabels
        ? List.of(part, VectorCodec.encodeChunk(partition, 0, labels.value, 0, labels.count))
        : List.of(part);
  }

  /** A growing array of values. */
  private static final class Values {
    private double[] value = new double[64];
    private int count;

    void add(double[] more) {
      int needed = Math.addExact(count, more.length);
      if (needed > value.length) {
        value = Arrays.copyOf(value, (int) Math.min(Integer.MAX_VALUE - 8, 2L * needed));
      }
      System.arraycopy(more, 0, value, count, more.length);
      count = needed;
    }
  }
}
