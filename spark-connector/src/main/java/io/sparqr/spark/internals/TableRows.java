/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.internals;

import java.io.Serializable;
import java.util.Iterator;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructField;

/**
 * The rows of a Dataset in Spark's internal representation, without the copy that {@code javaRDD()}
 * makes of each.
 */
public final class TableRows {

  private final JavaRDD<InternalRow> rows;
  private final DataType[] types;

  /** What becomes of the rows of a partition. */
  @FunctionalInterface
  public interface Work<R> extends Serializable {
    /** Each row is there until the next one is asked for. */
    Iterator<R> apply(int partition, Iterator<TableRow> rows);
  }

  private TableRows(JavaRDD<InternalRow> rows, DataType[] types) {
    this.rows = rows;
    this.types = types;
  }

  /** The rows of a Dataset, which is of this JVM's own Spark and not of a remote one. */
  public static TableRows of(Dataset<Row> data) {
    var classic = (org.apache.spark.sql.classic.Dataset<Row>) data;
    return new TableRows(
        classic.queryExecution().toRdd().toJavaRDD(),
        Stream.of(data.schema().fields()).map(StructField::dataType).toArray(DataType[]::new));
  }

  /** The same partitions with what becomes of their rows. */
  public <R> JavaRDD<R> map(Work<R> work) {
    DataType[] of = types;
    return rows.mapPartitionsWithIndex((p, it) -> work.apply(p, views(it, of)), false);
  }

  private static Iterator<TableRow> views(Iterator<InternalRow> rows, DataType[] types) {
    var view = new TableRow(types);
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        return rows.hasNext();
      }

      @Override
      public TableRow next() {
        return view.at(rows.next());
      }
    };
  }

  /** The settings of a session for Hadoop's file systems. */
  public static Configuration hadoopSettings(SparkSession session) {
    return session.sessionState().newHadoopConf();
  }
}
