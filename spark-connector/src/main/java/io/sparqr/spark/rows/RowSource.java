/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.rows;

import static java.util.Objects.requireNonNull;

import io.sparqr.spark.engine.Engine;
import io.sparqr.spark.file.ReusableRows;
import io.sparqr.spark.model.RowColumns;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.parts.Parts;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.function.IntFunction;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.functions;
import org.apache.spark.storage.StorageLevel;
import org.jspecify.annotations.Nullable;

/**
 * The caller's rows, in any accepted form, as partitions of {@link SparseRow}: an RDD, or
 * partitions in this JVM alone.
 */
public final class RowSource {

  /** The rows as Spark has them, if Spark is the engine. */
  private final @Nullable JavaRDD<SparseRow> rows;

  /** Right-hand sides that do not come with the rows. */
  private final @Nullable JavaRDD<double[]> labels;

  /** With right-hand sides apart, only once they are needed together. */
  private @Nullable Parts<SparseRow> parts;

  /** Rows with their right-hand sides, or in {@code parts} the same for readers that keep none. */
  private RowSource(@Nullable JavaRDD<SparseRow> rows, Parts<SparseRow> parts) {
    this.rows = rows;
    this.labels = null;
    this.parts = parts;
  }

  private RowSource(JavaRDD<SparseRow> rows, JavaRDD<double[]> labels) {
    this.rows = rows;
    this.labels = labels;
    this.parts = null;
  }

  private RowSource(Parts<SparseRow> parts) {
    this.rows = null;
    this.labels = null;
    this.parts = parts;
  }

  /**
   * Rows in this JVM, for {@link Engine#LOCAL}.
   *
   * @param partitions number of partitions
   * @param rows the rows of a partition, by its number: the same ones at every call
   */
  public static RowSource local(int partitions, IntFunction<Iterator<SparseRow>> rows) {
    return new RowSource(Parts.here(partitions, rows));
  }

  /** Rows of any form accepted by {@link RowForms#toRow}. */
  public static RowSource of(JavaRDD<?> rows) {
    Parts<SparseRow> own = Parts.of(rows).map(RowForms.Reader::new);
    if (rows.rdd() instanceof ReusableRows r && computed(rows)) {
      return new RowSource(own.rdd(), Parts.of(r.reused()).map(RowForms.Reader::new));
    }
    return new RowSource(own.rdd(), own);
  }

  /** Whether Spark computes the elements whenever they are read, rather than stores them. */
  private static boolean computed(JavaRDD<?> rows) {
    return rows.getStorageLevel().equals(StorageLevel.NONE()) && !rows.isCheckpointed();
  }

  /** Rows of a Dataset. */
  public static RowSource of(Dataset<Row> data, RowColumns names) {
    var columns = new ArrayList<org.apache.spark.sql.Column>();
    columns.add(functions.col(names.features()));
    columns.add(
        names.weight().map(w -> functions.col(w).cast("double")).orElse(functions.lit(1.0)));
    for (String label : names.labels()) {
      columns.add(functions.col(label).cast("double"));
    }
    return of(data.select(columns.toArray(new org.apache.spark.sql.Column[0])).javaRDD());
  }

  /**
   * Columns as params of Spark ML have them.
   *
   * @param weight empty: all weights are 1
   * @throws IllegalArgumentException if there is no label column
   */
  public static RowColumns columns(String features, String weight, String... labels) {
    return new RowColumns(features, Optional.of(weight).filter(w -> !w.isEmpty()), List.of(labels));
  }

  /** This matrix and these weights with other right-hand sides, aligned row by row. */
  public RowSource withLabels(JavaRDD<double[]> labels) {
    if (labels.getNumPartitions() != rows().getNumPartitions()) {
      throw new io.sparqr.error.DimensionMismatchException(
          "right-hand sides come in "
              + labels.getNumPartitions()
              + " partitions, the rows in "
              + rows().getNumPartitions(),
          "partitions",
          rows().getNumPartitions(),
          labels.getNumPartitions());
    }
    return new RowSource(rows(), labels);
  }

  private static Iterator<SparseRow> relabel(Iterator<SparseRow> rows, Iterator<double[]> labels) {
    return new Iterator<>() {
      private long count;

      @Override
      public boolean hasNext() {
        if (rows.hasNext() != labels.hasNext()) {
          throw misaligned(rows.hasNext(), count);
        }
        return rows.hasNext();
      }

      @Override
      public SparseRow next() {
        SparseRow r = rows.next();
        count++;
        return new SparseRow(r.indices(), r.values(), labels.next(), r.weight(), r.columns());
      }
    };
  }

  /**
   * The error for a partition whose right-hand sides are not as many as its rows.
   *
   * @param more whether there are more rows
   * @param count right-hand sides that had a row
   */
  public static io.sparqr.error.DimensionMismatchException misaligned(boolean more, long count) {
    return new io.sparqr.error.DimensionMismatchException(
        "a partition has %s rows than right-hand sides, of which it has %s%d"
            .formatted(more ? "more" : "fewer", more ? "" : "more than ", count),
        "right-hand sides",
        count + (more ? 1 : 0),
        count + (more ? 0 : 1));
  }

  /** The right-hand sides alone, if they came apart from the rows. */
  public Optional<Parts<double[]>> labels() {
    return Optional.ofNullable(labels).map(Parts::of);
  }

  /**
   * The rows, which may be kept.
   *
   * @throws IllegalStateException without Spark
   */
  public JavaRDD<SparseRow> rows() {
    return rows != null && labels == null ? rows : parts().rdd();
  }

  /**
   * The rows for either engine, to be read one after another: a row is valid until the next one of
   * its partition is asked for.
   */
  public synchronized Parts<SparseRow> parts() {
    if (parts == null) {
      parts = Parts.of(requireNonNull(rows).zipPartitions(labels, RowSource::relabel));
    }
    return parts;
  }

  /** The number of partitions of the rows. */
  public int partitions() {
    return rows == null ? parts().count() : rows.getNumPartitions();
  }

  /** The engine that holds the rows. */
  public Engine engine() {
    return rows == null ? Engine.LOCAL : Engine.of(context());
  }

  /** The Spark context of the rows. */
  public JavaSparkContext context() {
    return JavaSparkContext.fromSparkContext((rows == null ? rows() : rows).context());
  }
}
