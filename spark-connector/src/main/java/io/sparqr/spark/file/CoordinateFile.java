/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.file;

import io.sparqr.error.IndexOverflowException;
import io.sparqr.error.MatrixFormatException;
import io.sparqr.matrix.CoordinateReader;
import io.sparqr.matrix.DenseMatrix;
import io.sparqr.matrix.MatrixMarketHeader;
import io.sparqr.matrix.SymmetricHalves;
import io.sparqr.matrix.Triplets;
import io.sparqr.spark.engine.Held;
import io.sparqr.spark.engine.JobScope;
import io.sparqr.spark.file.FileRows.Request;
import io.sparqr.spark.file.InputFile.Split;
import io.sparqr.spark.parts.ShuffledFrames;
import io.sparqr.spark.wire.EntryCodec;
import io.sparqr.sparse.CsrMatrix;
import java.io.IOException;
import java.io.InputStream;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.rdd.PartitionPruningRDD;
import org.jspecify.annotations.Nullable;
import scala.Function1;
import scala.Tuple2;

/**
 * Reads a Matrix Market coordinate file into rows. One shuffle brings the entries of a range of
 * rows into one partition, and the splits' summaries into a separate partition, which is read
 * first: the file is parsed only once, but checked before any of its rows is used. The values of a
 * right-hand side in a separate file ({@link ArrayFile}) are part of that shuffle.
 */
final class CoordinateFile {

  /** Bytes of text for one partition of rows, about 2 million entries. */
  private static final long PARTITION_BYTES = 32L << 20;

  private final JavaSparkContext context;
  private final Request request;
  private final InputFile file;
  private final MatrixMarketHeader header;

  CoordinateFile(JavaSparkContext context, Request request) throws IOException {
    this.context = context;
    this.request = request;
    this.file = new InputFile(context, request.name(), request.path());
    try (InputStream in = file.open(0)) {
      header = MatrixMarketHeader.read(in, request.name());
    }
    if (!header.format().coordinate()) {
      throw new MatrixFormatException(
          request.name() + ": an array file is not split over the executors", request.name(), 1);
    }
  }

  FileRows read() throws IOException {
    long m = request.transpose() ? header.columns() : header.rows();
    long n = request.transpose() ? header.rows() : header.columns();
    if (n > Integer.MAX_VALUE - 16) {
      throw new IndexOverflowException(
          request.name() + ": " + n + " columns are too many", "columns", n);
    }
    FileRows.requireShape(request, m, n);
    long wanted =
        request.partitions() > 0
            ? request.partitions()
            : Math.max(context.defaultParallelism(), file.length() / PARTITION_BYTES);
    RowRanges ranges = new RowRanges(m, wanted);
    List<Split> splits = file.splits(header.end(), context.defaultParallelism());
    ArrayFile rhs = rightHandSide(m);
    JavaPairRDD<Integer, byte[]> sorted;
    try (JobScope jobs = new JobScope(context)) {
      jobs.describe("reading " + request.name() + " in " + splits.size() + " splits");
      JavaPairRDD<Integer, byte[]> entries = sorted(splits, ranges, rhs);
      sorted = entries;
      List<byte[]> frames =
          JobScope.run(
              context,
              "summaries of " + request.name(),
              () -> pruned(entries, ranges.count(), true).map(t -> t._2()).collect());
      List<byte[]> ofMatrix =
          frames.stream().filter(f -> EntryCodec.split(f) < splits.size()).toList();
      List<byte[]> ofRhs =
          frames.stream().filter(f -> EntryCodec.split(f) >= splits.size()).toList();
      new SplitSummaries(
              file,
              header,
              (in, split, line, before) ->
                  new CoordinateReader(
                      in, request.name(), header, split.begin(), split.end(), line, before))
          .before(splits, ofMatrix);
      requireOneHalf(ofMatrix);
      if (rhs != null) {
        rhs.requireUnchanged(ofRhs);
      }
    }
    Held held = new Held();
    Labels labels =
        request.rhs() == null
            ? request.labels()
            : new Labels.Given(held.keep(context.broadcast(request.rhs())));
    int columns = (int) n;
    int rhsCount = rhs == null ? 0 : rhs.header().columns();
    int rhsSplits = splits.size();
    JavaRDD<RowSlice> slices =
        pruned(sorted, ranges.count(), false)
            .mapPartitionsWithIndex(
                (p, frames) -> {
                  var rows = new Assembly(frames, rhsSplits);
                  int size = ranges.size(p);
                  CsrMatrix a = rows.matrix.toCsr(size, columns);
                  DenseMatrix b =
                      rhsCount > 0
                          ? dense(rows.rhs.toCsr(size, rhsCount))
                          : labels.of(a, ranges.first(p));
                  return List.of(RowSlice.shared(a, b, 0, size)).iterator();
                },
                true);
    return new FileRows(m, columns, splits.size(), slices, held, "");
  }

  /**
   * Refuses a symmetric file with both halves. Only the few files with entries on both sides of the
   * diagonal are read once more, by the driver.
   */
  private void requireOneHalf(List<byte[]> summaries) throws IOException {
    boolean above = false;
    boolean below = false;
    for (byte[] frame : summaries) {
      EntryCodec.Summary s = EntryCodec.decodeSummary(frame);
      above |= s.above();
      below |= s.below();
    }
    if (header.format().symmetry() == MatrixMarketHeader.Symmetry.GENERAL || !above || !below) {
      return;
    }
    SymmetricHalves.requireOne(
        halves -> {
          try (InputStream in = file.open(header.end() - 1)) {
            halves.addAll(
                new CoordinateReader(
                    in,
                    request.name(),
                    header,
                    header.end(),
                    Long.MAX_VALUE,
                    header.nextLine(),
                    0));
          }
        },
        header.entries(),
        request.name());
  }

  private @Nullable ArrayFile rightHandSide(long m) throws IOException {
    FileRows.Source source = request.rhsFile();
    if (source == null) {
      return null;
    }
    var rhs = new ArrayFile(context, source.name(), source.path());
    FileRows.requireRightHandSide(rhs.header().rows(), rhs.header().columns(), m);
    return rhs;
  }

  private JavaPairRDD<Integer, byte[]> sorted(
      List<Split> splits, RowRanges ranges, @Nullable ArrayFile rhs) throws IOException {
    InputFile theFile = file;
    MatrixMarketHeader head = header;
    boolean transpose = request.transpose();
    JavaPairRDD<Integer, byte[]> frames =
        file.distribute(context, splits)
            .flatMapToPair(
                s -> {
                  InputStream in = theFile.open(s.begin() - 1);
                  var reader =
                      new CoordinateReader(in, theFile.name(), head, s.begin(), s.end(), 1, 0);
                  boolean ones = head.format().field() == MatrixMarketHeader.Field.PATTERN;
                  return new EntryFrames(in, reader, s.number(), ranges, transpose, ones);
                });
    if (rhs != null) {
      frames = frames.union(rhs.frames(ranges, splits.size()));
    }
    return ShuffledFrames.of(frames, ranges.count() + 1);
  }

  /**
   * Either the partitions before last, or those from last on, which is a single one; both from the
   * same shuffle.
   */
  private static JavaRDD<Tuple2<Integer, byte[]>> pruned(
      JavaPairRDD<Integer, byte[]> sorted, int last, boolean fromLast) {
    Function1<Object, Object> keep =
        (Function1<Object, Object> & Serializable) p -> ((Integer) p >= last) == fromLast;
    return PartitionPruningRDD.create(sorted.rdd(), keep).toJavaRDD();
  }

  /** The entries of one range of rows, of the matrix and of the right-hand side. */
  private static final class Assembly {
    private final Triplets matrix = new Triplets();
    private final Triplets rhs = new Triplets();

    /**
     * @param frames of entries; those from split {@code rhsFrom} on are of the right-hand side
     */
    Assembly(Iterator<Tuple2<Integer, byte[]>> frames, int rhsFrom) {
      List<byte[]> list = new ArrayList<>();
      frames.forEachRemaining(t -> list.add(t._2()));
      list.sort(Comparator.comparingLong(EntryCodec::order));
      for (int k = 0; k < list.size(); k++) {
        byte[] frame = list.set(k, null);
        EntryCodec.decode(frame, EntryCodec.split(frame) < rhsFrom ? matrix : rhs);
      }
    }
  }

  private static DenseMatrix dense(CsrMatrix b) {
    double[] values = new double[Math.multiplyExact(b.rows(), b.columns())];
    for (int i = 0; i < b.rows(); i++) {
      for (int k = b.rowStart()[i]; k < b.rowStart()[i + 1]; k++) {
        values[b.columnIndex()[k] * b.rows() + i] = b.values()[k];
      }
    }
    return new DenseMatrix(b.rows(), b.columns(), values);
  }
}
