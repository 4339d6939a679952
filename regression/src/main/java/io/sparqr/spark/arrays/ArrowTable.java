/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.arrays;

import io.sparqr.spark.internals.ArrowTables;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;

/** Tables of Python on their way to the executors of a cluster, each partition in a broadcast. */
public final class ArrowTable {

  private ArrowTable() {}

  /**
   * The Dataset of a file of Arrow record batches, with a partition for each, in order. An executor
   * fetches a batch when it first reads it, and keeps it for later passes, as far as its memory and
   * disk reach; tasks are of a fixed size. Spark gives the batches up when the Dataset is collected
   * as garbage.
   *
   * @param file of the batches, each an encapsulated message of Arrow's IPC format; read at once,
   *     and not needed afterwards
   * @param ends of the batches in the file, in bytes, ascending; at least one
   * @param schema Spark's types as JSON
   * @throws io.sparqr.error.WireFormatException if the file ends elsewhere
   * @throws IOException if it cannot be read
   */
  public static Dataset<Row> dataset(
      SparkSession session, String file, List<Number> ends, String schema) throws IOException {
    Path path = Path.of(file);
    ArrayFolder.requireLength(path, ends.get(ends.size() - 1).longValue());
    JavaSparkContext context = JavaSparkContext.fromSparkContext(session.sparkContext());
    List<Broadcast<byte[]>> batches = new ArrayList<>();
    long begin = 0;
    for (Number end : ends) {
      batches.add(context.broadcast(ArrayFolder.bytes(path, begin, end.longValue() - begin)));
      begin = end.longValue();
    }
    return ArrowTables.dataset(session, (StructType) DataType.fromJson(schema), batches);
  }
}
