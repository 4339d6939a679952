/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.file;

import io.sparqr.error.MatrixFormatException;
import io.sparqr.error.SparseQrException;
import io.sparqr.matrix.ArrayReader;
import io.sparqr.matrix.MatrixMarketHeader;
import io.sparqr.spark.engine.JobScope;
import io.sparqr.spark.engine.SparkErrors;
import io.sparqr.spark.file.InputFile.Split;
import io.sparqr.spark.wire.EntryCodec;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * A right-hand side in a Matrix Market array file, distributed to its rows. The number of values
 * before a value determines its row, so the executors read the file twice: first to count, which
 * also finds every error, and then for the values.
 */
final class ArrayFile {

  private final JavaSparkContext context;
  private final InputFile file;
  private final MatrixMarketHeader header;

  /**
   * Opens a file.
   *
   * @param name the name for messages
   * @throws java.io.FileNotFoundException if it does not exist
   * @throws io.sparqr.error.MatrixFormatException if its header is malformed
   */
  ArrayFile(JavaSparkContext context, String name, String path) throws IOException {
    this.context = context;
    this.file = new InputFile(context, name, path);
    try (InputStream in = file.open(0)) {
      this.header = MatrixMarketHeader.read(in, name);
    }
  }

  /** Rows and columns. */
  MatrixMarketHeader header() {
    return header;
  }

  /**
   * The values as frames of entries, keyed by the range of their rows, followed by summaries. Takes
   * one job, for the count.
   *
   * @param firstNumber index of the first split in the frames
   * @throws SparseQrException the file's first error
   */
  JavaPairRDD<Integer, byte[]> frames(RowRanges ranges, int firstNumber) throws IOException {
    List<Split> splits = file.splits(header.end(), context.defaultParallelism());
    InputFile theFile = file;
    MatrixMarketHeader head = header;
    JavaRDD<Split> parts = file.distribute(context, splits);
    List<byte[]> counted;
    try (JobScope jobs = new JobScope(context)) {
      jobs.describe("counting " + file.name() + " in " + splits.size() + " splits");
      counted = SparkErrors.unwrap(parts.map(s -> count(theFile, head, s))::collect);
    }
    long[] before =
        new SplitSummaries(
                file,
                header,
                (in, split, line, n) ->
                    new ArrayReader(in, file.name(), header, split.begin(), split.end(), line, n))
            .before(splits, counted);
    return parts.flatMapToPair(
        s -> {
          InputStream in = theFile.open(s.begin() - 1);
          long first = before[s.number()];
          var reader = new ArrayReader(in, theFile.name(), head, s.begin(), s.end(), 1, first);
          return new EntryFrames(in, reader, firstNumber + s.number(), ranges, false, false);
        });
  }

  /** Throws if the second reading differs from the first. */
  void requireUnchanged(List<byte[]> summaries) {
    long entries = 0;
    boolean malformed = false;
    for (byte[] frame : summaries) {
      EntryCodec.Summary s = EntryCodec.decodeSummary(frame);
      entries += s.entries();
      malformed |= s.malformed();
    }
    if (malformed || entries != header.entries()) {
      throw new MatrixFormatException(file.name() + ": changed while it was read", file.name(), -1);
    }
  }

  private static byte[] count(InputFile file, MatrixMarketHeader header, Split split)
      throws IOException {
    try (InputStream in = file.open(split.begin() - 1)) {
      var reader = new ArrayReader(in, file.name(), header, split.begin(), split.end(), 1, 0);
      boolean malformed = false;
      try {
        while (reader.next()) {
          // Only their number is needed.
        }
      } catch (SparseQrException e) {
        // Recorded, not thrown, because only the driver knows which error is the file's first.
        malformed = true;
      }
      return EntryCodec.encode(
          new EntryCodec.Summary(
              split.number(), reader.taken(), reader.lines(), malformed, false, false));
    }
  }
}
