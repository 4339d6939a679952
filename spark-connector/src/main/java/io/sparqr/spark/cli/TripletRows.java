/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import io.sparqr.error.DimensionMismatchException;
import io.sparqr.error.IndexOverflowException;
import io.sparqr.error.MatrixFormatException;
import io.sparqr.error.NonFiniteValueException;
import io.sparqr.matrix.DefaultRightHandSide;
import io.sparqr.matrix.DenseMatrix;
import io.sparqr.spark.SparseRow;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.functions;
import org.apache.spark.storage.StorageLevel;

/**
 * Rows of A from a table of (row, column, value), Parquet or CSV, read, sorted and summed up by the
 * executors. Indices count from 0. m is the greatest row index + 1, or the number of rows of the
 * right-hand side; n is the greatest column index + 1. Entries of one place are summed.
 */
final class TripletRows implements AutoCloseable {

  private static final String[] NAMES = {"row", "column", "value"};

  private static final String HOLE = "row is null or column is null or value is null";
  private static final String NEGATIVE = "row < 0 or column < 0";
  private static final String NOT_FINITE = "isnan(value) or abs(value) = double('Infinity')";

  private static final Map<String, String> CSV =
      Map.of(
          "mode", "PERMISSIVE",
          "ignoreLeadingWhiteSpace", "true",
          "ignoreTrailingWhiteSpace", "true",
          "columnNameOfCorruptRecord", "bad");
  private static final String CSV_SCHEMA = "row BIGINT, column BIGINT, value DOUBLE, bad STRING";

  private final long rowCount;
  private final int columns;
  private final JavaRDD<SparseRow> rows;
  private final Broadcast<DenseMatrix> labels;

  /** Reads a table; the rows are kept until this is closed. */
  TripletRows(
      SparkSession spark,
      String file,
      MatrixFormat format,
      boolean transpose,
      DenseMatrix rhs,
      int partitions) {
    EntryPlace place =
        format == MatrixFormat.CSV
            ? new EntryPlace(spark, file, CSV, CSV_SCHEMA, header(spark, file))
            : new EntryPlace(spark, file, null, "", false);
    Dataset<Row> table =
        format == MatrixFormat.CSV ? csv(spark, file, place) : parquet(spark, file);
    // One pass for all of it: every query costs Spark about a second to plan and compile.
    Row extent =
        table
            .agg(
                functions.max("row"),
                functions.max("column"),
                functions.min("row"),
                functions.min("column"),
                functions.expr("count_if(" + HOLE + ")"),
                functions.expr("count_if(" + NOT_FINITE + ")"))
            .first();
    if (extent.getLong(4) > 0) {
      Row entry = table.filter(HOLE).first();
      throw new MatrixFormatException(
          place.of(table, HOLE) + ": a null in the entry (" + entry.mkString(", ") + ")", file, -1);
    }
    if (extent.isNullAt(0) || extent.isNullAt(1)) {
      throw new MatrixFormatException(file + ": no entries", file, -1);
    }
    if (extent.getLong(2) < 0 || extent.getLong(3) < 0) {
      throw new MatrixFormatException(
          place.of(table, NEGATIVE) + ": a negative index (they count from 0)", file, -1);
    }
    if (extent.getLong(5) > 0) {
      throw notFinite(table, place);
    }
    long m = extent.getLong(transpose ? 1 : 0) + 1;
    long n = extent.getLong(transpose ? 0 : 1) + 1;
    if (n > Integer.MAX_VALUE - 16) {
      throw new IndexOverflowException(file + ": column index " + (n - 1), "column index", n - 1);
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
    // Now, so that reading is counted as reading and bad entries are found first.
    // No catch: Scala throws Spark's checked exceptions without saying so.
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
    return named(spark.read().parquet(file), file);
  }

  private static Dataset<Row> named(Dataset<Row> table, String file) {
    List<String> there =
        Arrays.stream(table.columns()).map(c -> c.toLowerCase(Locale.ROOT)).toList();
    for (String name : NAMES) {
      if (!there.contains(name)) {
        throw new MatrixFormatException(
            file + ": no column '" + name + "', the columns are " + there, file, -1);
      }
    }
    return table.select(
        functions.col("row").cast("long"),
        functions.col("column").cast("long"),
        functions.col("value").cast("double"));
  }

  private static NonFiniteValueException notFinite(Dataset<Row> table, EntryPlace place) {
    String where = place.of(table, NOT_FINITE);
    Row entry = table.filter(NOT_FINITE).first();
    return new NonFiniteValueException(
        "%s: the value of row %d, column %d is not finite"
            .formatted(where, entry.getLong(0), entry.getLong(1)),
        entry.getLong(0),
        (int) entry.getLong(1));
  }

  /** Whether the first line names the columns. */
  private static boolean header(SparkSession spark, String file) {
    List<String> first = spark.read().text(file).javaRDD().map(r -> r.getString(0)).take(1);
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
        spark.read().options(CSV).option("header", place.header()).schema(CSV_SCHEMA).csv(file);
    // As an RDD: Spark refuses a query of the unreadable lines alone.
    JavaRDD<Row> bad =
        table
            .javaRDD()
            .filter(r -> !r.isNullAt(3) || r.isNullAt(0) || r.isNullAt(1) || r.isNullAt(2));
    List<Row> sample = bad.take(1);
    if (!sample.isEmpty()) {
      Row r = sample.get(0);
      String text = r.isNullAt(3) ? r.mkString(",") : r.getString(3);
      String where = place.of(table, "bad is not null or " + HOLE);
      throw new MatrixFormatException(where + ": '" + text + "' is no row,column,value", file, -1);
    }
    return table.select("row", "column", "value");
  }

  /** m. */
  long rowCount() {
    return rowCount;
  }

  /** n. */
  int columns() {
    return columns;
  }

  /** The rows, one for every index below m. */
  JavaRDD<SparseRow> rows() {
    return rows;
  }

  @Override
  public void close() {
    rows.unpersist(false);
    if (labels != null) {
      labels.unpersist(false);
    }
  }

  /** Sorted triplets into rows. */
  private static final class Assembler implements Iterator<SparseRow> {
    private final Iterator<Row> triplets;
    private final int columns;
    private final DenseMatrix rhs;
    private Row pending;
    private int[] index = new int[16];
    private double[] value = new double[16];

    Assembler(Iterator<Row> triplets, int columns, DenseMatrix rhs) {
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
