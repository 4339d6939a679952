/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.file;

import io.sparqr.error.IndexOverflowException;
import io.sparqr.error.MatrixFormatException;
import io.sparqr.matrix.CoordinateReader;
import io.sparqr.matrix.MatrixMarketHeader;
import io.sparqr.matrix.Triplets;
import io.sparqr.spark.file.FileRows.Request;
import io.sparqr.spark.file.InputFile.Split;
import io.sparqr.spark.resource.Held;
import io.sparqr.spark.resource.JobScope;
import io.sparqr.spark.resource.KeyPartitioner;
import io.sparqr.spark.resource.SparkErrors;
import io.sparqr.spark.wire.EntryCodec;
import io.sparqr.spark.wire.EntryCodec.Summary;
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
import scala.Function1;
import scala.Tuple2;

/**
 * A Matrix Market coordinate file on its way to rows. One shuffle takes the entries of a range of
 * rows to one partition, and the splits' summaries to a partition of their own, which is looked at
 * first: the file is parsed once, yet it is known to be right before a row of it is used. The first
 * error of the file is made by parsing its split once more on the driver, with the line that it
 * begins at, by then known.
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
    if (!header.coordinate()) {
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
    JavaPairRDD<Integer, byte[]> sorted = sorted(splits, ranges);
    try (JobScope jobs = new JobScope(context)) {
      jobs.describe("reading " + request.name() + " in " + splits.size() + " splits");
      List<byte[]> frames =
          SparkErrors.unwrap(() -> pruned(sorted, ranges.count(), true).map(t -> t._2()).collect());
      check(splits, frames.stream().map(EntryCodec::decodeSummary).toList());
    }
    Held held = new Held();
    Labels labels =
        request.rhs() == null
            ? request.labels()
            : Labels.of(held.keep(context.broadcast(request.rhs())));
    int columns = (int) n;
    JavaRDD<RowSlice> slices =
        pruned(sorted, ranges.count(), false)
            .mapPartitionsWithIndex(
                (p, frames) -> List.of(assemble(frames, ranges, p, columns, labels)).iterator(),
                true);
    return new FileRows(m, columns, splits.size(), slices, held);
  }

  private JavaPairRDD<Integer, byte[]> sorted(List<Split> splits, RowRanges ranges)
      throws IOException {
    InputFile theFile = file;
    MatrixMarketHeader theHeader = header;
    boolean transpose = request.transpose();
    return file.distribute(context, splits)
        .flatMapToPair(s -> new EntryFrames(theFile, theHeader, s, ranges, transpose))
        .partitionBy(new KeyPartitioner(ranges.count() + 1));
  }

  /** The one partition from last on, or all before it; both of the same shuffle. */
  private static JavaRDD<Tuple2<Integer, byte[]>> pruned(
      JavaPairRDD<Integer, byte[]> sorted, int last, boolean fromLast) {
    Function1<Object, Object> keep =
        (Function1<Object, Object> & Serializable) p -> ((Integer) p >= last) == fromLast;
    return PartitionPruningRDD.create(sorted.rdd(), keep).toJavaRDD();
  }

  private static RowSlice assemble(
      Iterator<Tuple2<Integer, byte[]>> frames,
      RowRanges ranges,
      int p,
      int columns,
      Labels labels) {
    List<byte[]> list = new ArrayList<>();
    frames.forEachRemaining(t -> list.add(t._2()));
    list.sort(Comparator.comparingLong(EntryCodec::order));
    Triplets entries = new Triplets();
    for (int k = 0; k < list.size(); k++) {
      EntryCodec.decode(list.set(k, null), entries);
    }
    int m = ranges.size(p);
    CsrMatrix a = entries.toCsr(m, columns);
    return RowSlice.shared(a, labels.of(a, ranges.first(p)), 0, m);
  }

  /** Finds the file's first error. */
  private void check(List<Split> splits, List<Summary> found) throws IOException {
    Summary[] bySplit = new Summary[splits.size()];
    found.forEach(s -> bySplit[s.split()] = s);
    long entries = 0;
    long line = header.nextLine();
    for (Split split : splits) {
      Summary s = bySplit[split.number()];
      if (s.malformed() || entries + s.entries() > header.entries()) {
        fail(split, line, entries);
      }
      entries += s.entries();
      line += s.lines();
    }
    if (entries < header.entries()) {
      throw header.endsEarly(request.name(), line, entries);
    }
  }

  private void fail(Split split, long line, long before) throws IOException {
    try (InputStream in = file.open(split.begin() - 1)) {
      CoordinateReader reader =
          new CoordinateReader(
              in, request.name(), header, split.begin(), split.end(), line, before);
      while (reader.next()) {
        // Until it throws.
      }
    }
    throw new MatrixFormatException(
        request.name() + ": changed while it was read", request.name(), -1);
  }
}
