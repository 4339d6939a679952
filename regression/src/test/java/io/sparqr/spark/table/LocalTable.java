/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.table;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Row;

/** The passes of {@link TableReader} over one file in this thread, in pieces of any size. */
record LocalTable(
    List<List<String>> records,
    List<String> names,
    ColumnType[] types,
    List<Row> rows,
    List<String> notes,
    String error) {

  static LocalTable read(JavaSparkContext context, String path, TableOptions options, long bytes)
      throws IOException {
    var files = new TableFiles(context, path, path);
    var sniffer = new Sniffer(options, path);
    Dialect dialect;
    List<List<String>> records = new ArrayList<>();
    try (InputStream in = files.open(0)) {
      dialect = sniffer.dialect(in);
    } catch (RuntimeException e) {
      return failed(records, e.getMessage());
    }
    Header header;
    try (var all =
        new CsvRecords(new StrictReader(files.open(0), dialect.charset()), dialect, 0, true)) {
      CsvRecord first = all.next();
      if (first == null) {
        return failed(records, "no header");
      }
      header = Header.of(first, path, 1);
      for (CsvRecord r = first; r != null; r = all.next()) {
        var fields = new ArrayList<String>();
        for (int k = 0; k < r.count(); k++) {
          fields.add(r.field(k));
        }
        records.add(fields);
      }
    } catch (BadRecordException e) {
      return failed(records, "line " + e.line() + ": " + e.getMessage());
    } catch (RuntimeException e) {
      return failed(records, e.getMessage());
    }
    List<Piece> pieces = pieces(files, dialect, bytes);
    var pass = new ProfilePass(files, dialect, header);
    var profile = new TableProfile(header.width());
    for (Piece p : pieces) {
      profile = profile.merge(pass.of(p));
    }
    if (profile.error() != null) {
      return failed(records, "line " + profile.error().line() + ": " + profile.error().text());
    }
    if (profile.trailing() > 0 && profile.trailing() < profile.records()) {
      Place at = profile.firstTrailing();
      return failed(records, "line " + at.line() + ": " + at.text());
    }
    Tabulation t;
    try {
      t = new Tabulation(options, dialect, header, profile, sniffer.notes());
    } catch (RuntimeException e) {
      return failed(records, e.getMessage());
    }
    List<Row> rows = new ArrayList<>();
    var parser = new RowParser(files, t.dialect(), header, t.types());
    for (Piece p : pieces) {
      parser.rows(p).forEachRemaining(rows::add);
    }
    return new LocalTable(records, header.names(), t.types(), rows, t.notes(), null);
  }

  private static LocalTable failed(List<List<String>> records, String error) {
    return new LocalTable(records, List.of(), new ColumnType[0], List.of(), List.of(), error);
  }

  /** Cut as {@link TableSplitter} does, at every so many bytes. */
  static List<Piece> pieces(TableFiles files, Dialect dialect, long bytes) throws IOException {
    long length = files.file(0).length();
    if (!dialect.plainBytes() || files.file(0).compressed()) {
      return List.of(Piece.whole(0));
    }
    List<RecordScan.Effect> effects = new ArrayList<>();
    for (long at = 0; at < length; at += bytes) {
      try (InputStream in = files.open(0, Math.max(0, at - 1))) {
        int before = at > 0 ? in.read() : -1;
        long end = Math.min(length, at + bytes);
        effects.add(new RecordScan(dialect).scan(in, at, end, before));
      }
    }
    return TableSplitter.joined(0, effects, length);
  }

  @Override
  public String toString() {
    return names + " " + Arrays.toString(types) + " " + rows + " " + notes + " " + error;
  }
}
