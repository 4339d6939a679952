/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.table;

import io.sparqr.error.MatrixFormatException;
import io.sparqr.spark.wire.OwnObjects;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;

/**
 * Reads CSV files by the executors. The driver reads the first megabyte of the first file; large
 * files are scanned once to cut them at the ends of records; one pass over all rows profiles the
 * columns, and fails at the first malformed record of the table; the rows are parsed when the
 * Dataset is used.
 */
public final class TableReader {

  private final SparkSession spark;
  private final JavaSparkContext context;
  private final TableFiles files;
  private final TableOptions options;
  private final long pieceBytes;

  private TableReader(SparkSession spark, TableFiles files, TableOptions options, long pieceBytes) {
    this.spark = spark;
    this.context = JavaSparkContext.fromSparkContext(spark.sparkContext());
    this.files = files;
    this.options = options;
    this.pieceBytes = pieceBytes;
  }

  /**
   * Reads CSV.
   *
   * @param name for messages
   * @param path a file, a folder of files, or a pattern of Hadoop's
   * @throws MatrixFormatException if a record is malformed; the message has file and line
   * @throws IllegalArgumentException if an option names no column
   * @throws java.nio.file.NoSuchFileException if there is no file
   */
  public static Table csv(SparkSession spark, String name, String path, TableOptions options)
      throws IOException {
    return csv(spark, name, path, options, TableSplitter.BYTES);
  }

  /** As above, with pieces of another size. */
  static Table csv(
      SparkSession spark, String name, String path, TableOptions options, long pieceBytes)
      throws IOException {
    var context = JavaSparkContext.fromSparkContext(spark.sparkContext());
    var files = new TableFiles(context, name, path);
    return new TableReader(spark, files, options, pieceBytes).read();
  }

  private Table read() throws IOException {
    int first = IntStream.range(0, files.count()).filter(this::hasContent).findFirst().orElse(-1);
    if (first < 0) {
      throw new MatrixFormatException(files.name() + ": an empty file", files.name(), 1);
    }
    var sniffer = new Sniffer(options, files.file(first).name());
    Dialect dialect;
    try (InputStream in = files.open(first)) {
      dialect = sniffer.dialect(in);
    }
    List<String> notes = new ArrayList<>(sniffer.notes());
    Header header;
    TableProfile profile;
    List<Piece> pieces;
    while (true) {
      header = header(first, dialect);
      pieces = new TableSplitter(context, files, dialect, pieceBytes).cut();
      profile = profile(pieces, dialect, header);
      if (profile.error() == null) {
        break;
      }
      boolean other =
          profile.encodingError()
              && options.encoding() == null
              && dialect.encoding().equals("UTF-8");
      if (!other) {
        throw malformed(profile.error(), profile.encodingError());
      }
      // Bytes behind the first megabyte that are no UTF-8.
      dialect = dialect.withEncoding(Dialect.WINDOWS);
      notes.add(Encoding.windows().note());
    }
    check(profile);
    var tabulation = new Tabulation(options, dialect, header, profile, notes);
    Dataset<Row> rows = rows(pieces, tabulation.dialect(), header, tabulation.types());
    return new Table(rows, tabulation.columns(), tabulation.notes());
  }

  private boolean hasContent(int file) {
    try (InputStream in = files.open(file)) {
      return in.read() >= 0;
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  private Header header(int first, Dialect dialect) throws IOException {
    String file = files.file(first).name();
    try (var records =
        new CsvRecords(new StrictReader(files.open(first), dialect.charset()), dialect, 0, true)) {
      CsvRecord record = records.next();
      if (record == null) {
        throw new MatrixFormatException(file + ": blank lines only, no header", file, 1);
      }
      return Header.of(record, file, records.line());
    } catch (BadRecordException e) {
      throw malformed(new Place(first, e.line(), String.valueOf(e.getMessage())), e.encoding());
    }
  }

  private TableProfile profile(List<Piece> pieces, Dialect dialect, Header header)
      throws IOException {
    var pass = new ProfilePass(files, dialect, header);
    // As bytes: Kryo, where an application has chosen it, cannot read records.
    JavaRDD<byte[]> profiles =
        TableSplitter.distribute(context, files, pieces)
            .map(piece -> OwnObjects.bytes(pass.of(piece)));
    return object(profiles.treeReduce((a, b) -> OwnObjects.bytes(object(a).merge(object(b)))));
  }

  private static TableProfile object(byte[] profile) {
    return OwnObjects.object(profile, TableProfile.class);
  }

  private void check(TableProfile profile) {
    String name = files.name();
    if (profile.trailing() > 0 && profile.trailing() < profile.records()) {
      throw malformed(Objects.requireNonNull(profile.firstTrailing()), false);
    }
    if (profile.records() == 0) {
      throw new MatrixFormatException(name + ": a header, but no rows", name, 1);
    }
  }

  private MatrixFormatException malformed(Place at, boolean encoding) {
    String file = files.file(at.file()).name();
    if (at.text().startsWith(file)) {
      return new MatrixFormatException(at.text(), file, at.line());
    }
    String hint = encoding ? "; --encoding NAME, such as latin1 or utf-16" : "";
    return new MatrixFormatException(
        file + ", line " + at.line() + ": " + at.text() + hint, file, at.line());
  }

  /** The rows, parsed when they are used. */
  private Dataset<Row> rows(List<Piece> pieces, Dialect dialect, Header header, ColumnType[] types)
      throws IOException {
    var parser = new RowParser(files, dialect, header, types);
    JavaRDD<Row> rows = TableSplitter.distribute(context, files, pieces).flatMap(parser::rows);
    StructField[] fields = new StructField[types.length];
    Column[] columns = new Column[types.length];
    for (int j = 0; j < types.length; j++) {
      // Plain names here, because those of the file may differ in case only.
      fields[j] = DataTypes.createStructField("c" + j, types[j].carried(), true);
      columns[j] = functions.col("c" + j).cast(types[j].sql()).as(header.names().get(j));
    }
    return spark.createDataFrame(rows, DataTypes.createStructType(fields)).select(columns);
  }
}
