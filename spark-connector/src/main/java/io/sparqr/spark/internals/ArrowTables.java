/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.internals;

import java.util.Iterator;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.arrow.ArrowConverters$;
import org.apache.spark.sql.types.StructType;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Tables of Arrow record batches that executors fetch once. Spark's own {@code createDataFrame}
 * makes them parts of its tasks, so that they travel again with each pass over the rows.
 */
public final class ArrowTables {

  private ArrowTables() {}

  /**
   * A Dataset with a partition for each batch, in order. Its rows are decoded when they are read.
   *
   * @param schema of the batches; types that Spark reads from Arrow
   * @param batches each an encapsulated message of Arrow's IPC format, without the schema
   */
  public static Dataset<Row> dataset(
      SparkSession session, StructType schema, List<Broadcast<byte[]>> batches) {
    var classic = (org.apache.spark.sql.classic.SparkSession) session;
    String zone = classic.sessionState().conf().sessionLocalTimeZone();
    List<Integer> numbers = IntStream.range(0, batches.size()).boxed().toList();
    JavaRDD<InternalRow> rows =
        JavaSparkContext.fromSparkContext(session.sparkContext())
            .parallelize(numbers, batches.size())
            .flatMap(k -> rows(batches.get(k).value(), schema, zone));
    return classic.internalCreateDataFrame(rows.rdd(), schema, false);
  }

  private static Iterator<InternalRow> rows(byte[] batch, StructType schema, String zone) {
    return CollectionConverters.asJava(
        ArrowConverters$.MODULE$.fromBatchIterator(
            CollectionConverters.asScala(List.of(batch).iterator()),
            schema,
            zone,
            true,
            false,
            TaskContext.get()));
  }
}
