/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.input;

import io.sparqr.error.DimensionMismatchException;
import io.sparqr.error.IndexOverflowException;
import io.sparqr.error.MatrixFormatException;
import io.sparqr.error.NonFiniteValueException;
import io.sparqr.matrix.DenseMatrix;
import io.sparqr.matrix.LabeledRows;
import io.sparqr.matrix.gallery.DefaultRightHandSide;
import io.sparqr.spark.model.SparseRow;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.NumericType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.storage.StorageLevel;
import org.jspecify.annotations.Nullable;

/**
 * Rows of A from a table of (row, column, value), Parquet or CSV, read and sorted by the executors.
 * Indices count from 0 or 1. m is the number of the last row, or the number of rows of the
 * right-hand side; n is the number of the last column. Entries at the same position are summed.
 */
public final class TripletRows implements AutoCloseable {

  private static final String[] NAMES = {"row", "column", "value"};

  private static final String HOLE = "row is null or column is null or value is null";

  /** From 2^53 on, doubles no longer represent every integer. */
  private static final String BROKEN =
      "not (row = floor(row)) or row not between -9007199254740991 and 9007199254740991"
          + " or not (column = floor(column))"
          + " or column not between -9007199254740991 and 9007199254740991";

  private static final String NOT_FINITE = "isnan(value) or abs(value) = double('Infinity')";

  /** A value of a CSV file that is NaN or infinite but not in the spelling of Spark's reader. */
  private static final Pattern NOT_A_NUMBER =
      Pattern.compile("([^,]+),([^,]+),\\s*[-+]?(nan|inf|infinity)\\s*", Pattern.CASE_INSENSITIVE);

  /** Without right-hand sides, a table may have this many rows, or this many for each entry. */
  private static final long MOST_EMPTY_ROWS = 10_000_000;

  private static final long ROWS_PER_ENTRY = 100;

  private static final Map<String, String> CSV =
      Map.of(
          "mode", "PERMISSIVE",
          "ignoreLeadingWhiteSpace", "true",
          "ignoreTrailingWhiteSpace", "true",
          "columnNameOfCorruptRecord", "bad");
  private static final String CSV_SCHEMA = "row DOUBLE, column DOUBLE, value DOUBLE, bad STRING";

  private static final Column VALUE = functions.col("value").cast("double");

  private final long rowCount;
  private final int columns;
  private final JavaRDD<SparseRow> rows;
  private final @Nullable Broadcast<DenseMatrix> labels;

  /**
   * The description of the table.
   *
   * @param file name or URI of a file or of a folder of parts
   * @param indexBase the first index; default: 0 if a 0 occurs among the indices, otherwise an
   *     error
   */
  public record Table(String file, MatrixFormat format, @Nullable Integer indexBase) {

    int base() {
      return indexBase == null ? 0 : indexBase;
    }
  }

  /** Reads a table; the rows are kept until this is closed. */
  public TripletRows(
      SparkSession spark,
      Table input,
      boolean transpose,
      @Nullable DenseMatrix rhs,
      int partitions) {
    String file = input.file;
    boolean csv = input.format == MatrixFormat.CSV;
    EntryPlace place =
        csv
            ? new EntryPlace(spark, file, CSV, CSV_SCHEMA, header(spark, file))
            : new EntryPlace(spark, file, null, "", false);
    Dataset<Row> raw = csv ? csv(spark, file, place) : parquet(spark, file);
    Row extent = checked(raw, input, place);
    int base = input.base();
    Dataset<Row> table =
        raw.select(
            functions.expr("cast(row as bigint) - " + base).as("row"),
            functions.expr("cast(column as bigint) - " + base).as("column"),
            functions.col("value"));
    long m = extent.getLong(transpose ? 1 : 0) + 1 - base;
    long n = extent.getLong(transpose ? 0 : 1) + 1 - base;
    if (n > Integer.MAX_VALUE - 16) {
      throw new IndexOverflowException(
          file + ": column index " + (n - 1 + base), "column index", n - 1 + base);
    }
    long entries = extent.getLong(7);
    LabeledRows.requireColumns(
        (int) n,
        entries,
        () -> indexed(raw, place, transpose ? "row" : "column", n - 1 + base),
        file);
    if (rhs == null && m > MOST_EMPTY_ROWS && m > ROWS_PER_ENTRY * entries) {
      throw new MatrixFormatException(
          String.format(
              Locale.ROOT,
              "%s makes a matrix of %,d rows with %,d entries: is it the number of a row? If it is,"
                  + " give all rows a right-hand side by --rhs",
              indexed(raw, place, transpose ? "column" : "row", m - 1 + base),
              m,
              entries),
          file,
          -1);
    }
    if (rhs != null && rhs.rows() < m) {
      throw new DimensionMismatchException(
          "the right-hand side has " + rhs.rows() + " rows, " + file + " at least " + m,
          "rows",
          m,
          rhs.rows());
    }
    rowCount = rhs == null ? m : rhs.rows();
    columns = (int) n;
    JavaSparkContext context = JavaSparkContext.fromSparkContext(spark.sparkContext());
    labels = rhs == null ? null : context.broadcast(rhs);
    rows = assemble(spark, table, transpose, Math.max(1, partitions));
    // Now, so that reading is timed as reading and bad entries are found first. No catch clause,
    // because Scala throws Spark's checked exceptions without declaring them.
    boolean read = false;
    try {
      rows.count();
      read = true;
    } finally {
      if (!read) {
        close();
      }
    }
  }

  /** The greatest and least indices of a table, after checking it for errors. */
  private static Row checked(Dataset<Row> table, Table input, EntryPlace place) {
    String file = input.file;
    String below = "row < " + input.base() + " or column < " + input.base();
    // One pass for everything, because Spark needs about a second to plan and compile each query.
    Row extent =
        table
            .agg(
                functions.expr("cast(max(row) filter (where not (" + BROKEN + ")) as bigint)"),
                functions.expr("cast(max(column) filter (where not (" + BROKEN + ")) as bigint)"),
                functions.expr("cast(min(row) filter (where not (" + BROKEN + ")) as bigint)"),
                functions.expr("cast(min(column) filter (where not (" + BROKEN + ")) as bigint)"),
                functions.expr("count_if(" + HOLE + ")"),
                functions.expr("count_if(" + NOT_FINITE + ")"),
                functions.expr("count_if(" + BROKEN + ")"),
                functions.expr("count(*)"))
            .first();
    if (extent.getLong(4) > 0) {
      throw new MatrixFormatException(
          place.of(table, HOLE) + ": a null in the entry " + entry(table, HOLE), file, -1);
    }
    if (extent.getLong(6) > 0) {
      throw new MatrixFormatException(
          place.of(table, BROKEN)
              + ": row and column must be whole numbers, the entry is "
              + entry(table, BROKEN),
          file,
          -1);
    }
    if (extent.isNullAt(0) || extent.isNullAt(1)) {
      throw new MatrixFormatException(file + ": no entries", file, -1);
    }
    long least = Math.min(extent.getLong(2), extent.getLong(3));
    if (least < input.base()) {
      String what = input.base() == 0 ? "a negative index" : "an index below 1";
      throw new MatrixFormatException(
          place.of(table, below) + ": " + what + " (they count from " + input.base() + ")",
          file,
          -1);
    }
    if (input.indexBase == null && least > 0) {
      throw new MatrixFormatException(
          file
              + ": row 0 and column 0 are empty: if indices count from 1, --index-base 1 says so;"
              + " if they count from 0, --index-base 0",
          file,
          -1);
    }
    if (extent.getLong(5) > 0) {
      throw notFinite(table, place);
    }
    return extent;
  }

  /** The place of an index, and the index. */
  private static String indexed(Dataset<Row> table, EntryPlace place, String which, long index) {
    return place.of(table, which + " = " + index) + ": " + which + " " + index;
  }

  private static String entry(Dataset<Row> table, String wrong) {
    return "(" + table.filter(wrong).first().mkString(", ") + ")";
  }

  private JavaRDD<SparseRow> assemble(
      SparkSession spark, Dataset<Row> table, boolean transpose, int partitions) {
    Column row = functions.col(transpose ? "column" : "row").as("i");
    Column column = functions.col(transpose ? "row" : "column").as("j");
    // A marker for every row, so that a row without entries keeps its right-hand side.
    Dataset<Row> markers =
        spark
            .range(rowCount)
            .select(
                functions.col("id").as("i"),
                functions.lit(-1L).as("j"),
                functions.lit(0.0).as("v"));
    Dataset<Row> sorted =
        table
            .select(row, column, functions.col("value").as("v"))
            .union(markers)
            .repartitionByRange(partitions, functions.col("i"))
            .sortWithinPartitions("i", "j", "v");
    int n = columns;
    Broadcast<DenseMatrix> b = labels;
    JavaRDD<SparseRow> result =
        sorted.javaRDD().mapPartitions(it -> new Assembler(it, n, b == null ? null : b.value()));
    return result.setName("rows of A").persist(StorageLevel.MEMORY_AND_DISK());
  }

  private static Dataset<Row> parquet(SparkSession spark, String file) {
    return named(spark.read().parquet(MatrixFormat.literal(file)), file);
  }

  private static Dataset<Row> named(Dataset<Row> table, String file) {
    for (String name : NAMES) {
      List<StructField> of =
          Arrays.stream(table.schema().fields())
              .filter(f -> f.name().equalsIgnoreCase(name))
              .toList();
      if (of.size() != 1) {
        throw new MatrixFormatException(
            file
                + (of.isEmpty() ? ": no column '" : ": more than one column '")
                + name
                + "', the columns are "
                + Arrays.toString(table.columns()),
            file,
            -1);
      }
      DataType type = of.get(0).dataType();
      if (!(type instanceof NumericType)) {
        throw new MatrixFormatException(
            "%s: column '%s' is of type %s, not a number"
                .formatted(file, name, type.simpleString()),
            file,
            -1);
      }
    }
    return table.select("row", "column", "value").withColumn("value", VALUE);
  }

  private static NonFiniteValueException notFinite(Dataset<Row> table, EntryPlace place) {
    String where = place.of(table, NOT_FINITE);
    Row entry = table.filter(NOT_FINITE).first();
    long row = ((Number) entry.get(0)).longValue();
    int column = ((Number) entry.get(1)).intValue();
    return new NonFiniteValueException(
        "%s: the value of row %d, column %d is not finite".formatted(where, row, column),
        row,
        column);
  }

  /** Whether the first line names the columns. */
  private static boolean header(SparkSession spark, String file) {
    List<String> first =
        spark.read().text(MatrixFormat.literal(file)).javaRDD().map(r -> r.getString(0)).take(1);
    if (first.isEmpty()) {
      throw new MatrixFormatException(file + ": empty", file, -1);
    }
    if (first.get(0).strip().matches("[-+0-9].*")) {
      return false;
    }
    String[] names = first.get(0).toLowerCase(Locale.ROOT).replaceAll("[\\s\"]", "").split(",");
    if (!Arrays.equals(names, NAMES)) {
      throw new MatrixFormatException(
          file + ":1: the header must be row,column,value, here '" + first.get(0) + "'", file, 1);
    }
    return true;
  }

  private static Dataset<Row> csv(SparkSession spark, String file, EntryPlace place) {
    Dataset<Row> table =
        spark
            .read()
            .options(CSV)
            .option("header", place.header())
            .schema(CSV_SCHEMA)
            .csv(MatrixFormat.literal(file));
    // As an RDD, because Spark rejects a query that selects only the unreadable lines.
    JavaRDD<Row> bad =
        table
            .javaRDD()
            .filter(r -> !r.isNullAt(3) || r.isNullAt(0) || r.isNullAt(1) || r.isNullAt(2));
    List<Row> sample = bad.take(1);
    if (!sample.isEmpty()) {
      Row r = sample.get(0);
      String text = r.isNullAt(3) ? r.mkString(",") : r.getString(3);
      String where = place.of(table, "bad is not null or " + HOLE);
      Matcher value = NOT_A_NUMBER.matcher(text);
      if (value.matches()) {
        throw new NonFiniteValueException(
            "%s: the value of row %s, column %s is not finite"
                .formatted(where, value.group(1).strip(), value.group(2).strip()),
            -1,
            -1);
      }
      throw new MatrixFormatException(
          where + ": '" + text + "' is not of the form row,column,value", file, -1);
    }
    return table.select("row", "column", "value");
  }

  /** The number of rows, m. */
  public long rowCount() {
    return rowCount;
  }

  /** The number of columns, n. */
  public int columns() {
    return columns;
  }

  /** The rows, one for every index below m. */
  public JavaRDD<SparseRow> rows() {
    return rows;
  }

  @Override
  public void close() {
    rows.unpersist(false);
    if (labels != null) {
      labels.unpersist(false);
    }
  }

  /** Assembles sorted triplets into rows. */
  private static final class Assembler implements Iterator<SparseRow> {
    private final Iterator<Row> triplets;
    private final int columns;
    private final @Nullable DenseMatrix rhs;
    private @Nullable Row pending;
    private int[] index = new int[16];
    private double[] value = new double[16];

    Assembler(Iterator<Row> triplets, int columns, @Nullable DenseMatrix rhs) {
      this.triplets = triplets;
      this.columns = columns;
      this.rhs = rhs;
      pending = triplets.hasNext() ? triplets.next() : null;
    }

    @Override
    public boolean hasNext() {
      return pending != null;
    }

    @Override
    public SparseRow next() {
      if (pending == null) {
        throw new java.util.NoSuchElementException();
      }
      long i = pending.getLong(0);
      int length = 0;
      while (pending != null && pending.getLong(0) == i) {
        int j = (int) pending.getLong(1);
        if (j >= 0) {
          double v = pending.getDouble(2);
          if (length > 0 && index[length - 1] == j) {
            value[length - 1] += v;
          } else {
            if (length == index.length) {
              index = Arrays.copyOf(index, 2 * length);
              value = Arrays.copyOf(value, 2 * length);
            }
            index[length] = j;
            value[length++] = v;
          }
        }
        pending = triplets.hasNext() ? triplets.next() : null;
      }
      return new SparseRow(
          Arrays.copyOf(index, length),
          Arrays.copyOf(value, length),
          labels(i, length),
          1,
          columns);
    }

    private double[] labels(long i, int length) {
      if (rhs == null) {
        return new double[] {DefaultRightHandSide.label(i, value, 0, length)};
      }
      double[] b = new double[rhs.columns()];
      for (int k = 0; k < b.length; k++) {
        b[k] = rhs.values()[k * rhs.rows() + (int) i];
      }
      return b;
    }
  }
}
