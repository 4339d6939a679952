/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.table;

import io.sparqr.spark.file.FileTasks;
import io.sparqr.spark.wire.OwnObjects;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * Cuts the files of a table into pieces of whole records. Files that are compressed, small, or in
 * an encoding whose bytes say nothing by themselves (UTF-16) are one piece; others are scanned once
 * by the executors ({@link RecordScan}), so that a line break within quotes is never taken for the
 * end of a record, wherever the cut is.
 */
final class TableSplitter {

  /** Bytes of a piece: small enough for many tasks, large enough for little overhead. */
  static final long BYTES = 32L << 20;

  private final JavaSparkContext context;
  private final TableFiles files;
  private final Dialect dialect;
  private final long bytes;

  TableSplitter(JavaSparkContext context, TableFiles files, Dialect dialect, long bytes) {
    this.context = context;
    this.files = files;
    this.dialect = dialect;
    this.bytes = bytes;
  }

  /** A range of bytes that is scanned by one task. */
  private record Range(int file, long begin, long end) implements java.io.Serializable {}

  /** The pieces, in order. */
  List<Piece> cut() throws IOException {
    List<Range> ranges = new ArrayList<>();
    boolean cuttable = dialect.plainBytes() && dialect.delimiter() < 128 && dialect.quote() < 128;
    for (int k = 0; k < files.count(); k++) {
      TableFiles.OneFile f = files.file(k);
      if (cuttable && !f.compressed() && f.length() > 2 * bytes) {
        for (long at = 0; at < f.length(); at += bytes) {
          ranges.add(new Range(k, at, Math.min(f.length(), at + bytes)));
        }
      }
    }
    List<RecordScan.Effect> effects = ranges.isEmpty() ? List.of() : effects(ranges);
    List<Piece> pieces = new ArrayList<>();
    int r = 0;
    for (int k = 0; k < files.count(); k++) {
      if (r == ranges.size() || ranges.get(r).file != k) {
        pieces.add(Piece.whole(k));
        continue;
      }
      int from = r;
      while (r < ranges.size() && ranges.get(r).file == k) {
        r++;
      }
      pieces.addAll(joined(k, effects.subList(from, r), files.file(k).length()));
    }
    return pieces;
  }

  private List<RecordScan.Effect> effects(List<Range> ranges) throws IOException {
    TableFiles theFiles = files;
    Dialect theDialect = dialect;
    List<List<String>> hosts = new ArrayList<>();
    for (Range r : ranges) {
      hosts.add(files.hosts(r.file, r.begin, r.end - r.begin));
    }
    return FileTasks.near(context, Range.class, ranges, hosts)
        .map(range -> OwnObjects.bytes(effect(theFiles, theDialect, range)))
        .collect()
        .stream()
        .map(bytes -> OwnObjects.object(bytes, RecordScan.Effect.class))
        .toList();
  }

  private static RecordScan.Effect effect(TableFiles files, Dialect dialect, Range range)
      throws IOException {
    long from = Math.max(0, range.begin - 1);
    try (InputStream in = files.open(range.file, from)) {
      int before = range.begin > 0 ? in.read() : -1;
      return new RecordScan(dialect).scan(in, range.begin, range.end, before);
    }
  }

  /** Follows the states through the ranges of a file, which gives the records that begin them. */
  static List<Piece> joined(int file, List<RecordScan.Effect> effects, long length) {
    List<Piece> pieces = new ArrayList<>();
    int state = RecordScan.RECORD;
    long lines = 0;
    long begin = 0;
    long before = 0;
    for (int k = 0; k < effects.size(); k++) {
      RecordScan.Effect e = effects.get(k);
      if (k > 0 && e.first()[state] >= 0) {
        pieces.add(new Piece(file, begin, e.first()[state], before));
        begin = e.first()[state];
        before = lines + e.linesBefore()[state];
      }
      state = e.end()[state];
      lines += e.lines();
    }
    pieces.add(new Piece(file, begin, length, before));
    return pieces;
  }

  /** Pieces as an RDD, one per partition, preferably on the hosts that store them. */
  static JavaRDD<Piece> distribute(JavaSparkContext context, TableFiles files, List<Piece> pieces)
      throws IOException {
    List<List<String>> hosts = new ArrayList<>(pieces.size());
    for (Piece p : pieces) {
      long length = p.end() < 0 ? files.file(p.file()).length() : p.end() - p.begin();
      hosts.add(files.hosts(p.file(), p.begin(), length));
    }
    return FileTasks.near(context, Piece.class, pieces, hosts);
  }
}
