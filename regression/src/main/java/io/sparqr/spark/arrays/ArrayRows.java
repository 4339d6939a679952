/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.arrays;

import io.sparqr.spark.cluster.ClusterResources;
import io.sparqr.spark.model.SparseRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.ml.linalg.SQLDataTypes;
import org.apache.spark.ml.linalg.SparseVector;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.util.TaskCompletionListener;

/**
 * An {@link ArrayFolder} as an RDD of rows in partitions of equal work. With a local master the
 * tasks read the driver's files in place, which must exist as long as the rows are in use. On a
 * cluster every partition is a separate broadcast, read once from the files: it is stored by the
 * driver, in memory or on disk, and by each executor that needs it.
 */
public final class ArrayRows implements AutoCloseable {

  /**
   * Maximum bytes of a broadcast, and thus of a partition on a cluster, unless a single row is
   * larger.
   */
  private static final long MOST_BYTES = 64L << 20;

  private final JavaSparkContext context;
  private final ArrayFolder source;
  private final long[] cuts;
  private final List<Broadcast<?>> sent = new ArrayList<>();
  private final JavaRDD<SparseRow> rows;

  private ArrayRows(JavaSparkContext context, ArrayFolder source, int partitions, boolean send)
      throws IOException {
    this.context = context;
    this.source = source;
    long entries = source.check();
    this.cuts = source.cuts(send ? Math.max(partitions, pieces(source, entries)) : partitions);
    this.rows = (send ? broadcastRows() : localRows()).setName("rows of A");
  }

  /**
   * The rows of a folder; without labels every row has a single label 0.
   *
   * @param partitions 0: as many as the cluster has cores; on a cluster at least one per 64 MB
   * @throws io.sparqr.error.WireFormatException if the length of a file does not match the shape
   * @throws IOException if a file cannot be read
   */
  public static ArrayRows open(JavaSparkContext context, ArrayFolder source, int partitions)
      throws IOException {
    return open(context, source, partitions, !ClusterResources.readFilesOfDriver(context));
  }

  static ArrayRows open(JavaSparkContext context, ArrayFolder source, int partitions, boolean send)
      throws IOException {
    int parts = partitions > 0 ? partitions : context.defaultParallelism();
    return new ArrayRows(context, source, parts, send);
  }

  private static int pieces(ArrayFolder a, long entries) {
    double bytes = 12.0 * entries + 8.0 * a.rows() * (2 + a.rhs());
    return (int) Math.min(1 << 20, 1 + (long) (bytes / MOST_BYTES));
  }

  private JavaRDD<SparseRow> localRows() {
    ArrayFolder a = source;
    long[] cut = cuts;
    return context
        .parallelize(numbers(), cut.length - 1)
        .flatMap(
            p -> {
              var rows = RowIterator.of(a, cut[p], cut[p + 1]);
              closeWithTask(rows);
              return rows;
            });
  }

  /** Closes the reader of a task that ends before its last row. */
  static void closeWithTask(AutoCloseable reader) {
    TaskContext task = TaskContext.get();
    if (task != null) {
      TaskCompletionListener closing =
          t -> {
            try {
              reader.close();
            } catch (Exception e) {
              throw new IllegalStateException(e);
            }
          };
      task.addTaskCompletionListener(closing);
    }
  }

  private JavaRDD<SparseRow> broadcastRows() throws IOException {
    List<Broadcast<byte[][]>> slices = new ArrayList<>(cuts.length - 1);
    for (int p = 0; p + 1 < cuts.length; p++) {
      // Arrays alone: Spark reads what is broadcast with the application's class loader, which does
      // not know our classes if the jar is an artifact of a Spark Connect session.
      slices.add(context.broadcast(source.slice(cuts[p], cuts[p + 1]).arrays()));
      sent.add(slices.get(p));
    }
    int n = source.columns();
    // Handles are captured by the closure, because Kryo would turn RDD elements into copies that
    // are no longer broadcasts.
    return context
        .parallelize(numbers(), slices.size())
        .flatMap(p -> new ArraySlice(n, slices.get(p).value()).rows());
  }

  private List<Integer> numbers() {
    return IntStream.range(0, cuts.length - 1).boxed().toList();
  }

  /** The rows of A with their right-hand sides, in the order of the array. */
  public JavaRDD<SparseRow> rows() {
    return rows;
  }

  /** Starts of the partitions: size partitions+1, from 0 to m. */
  public long[] cuts() {
    return cuts.clone();
  }

  /**
   * The rows as a table: {@code features} (a sparse vector), {@code label} (or {@code label_0}, ...
   * for several) if there are labels, {@code weight} if there are weights.
   */
  public Dataset<Row> table(SparkSession session) {
    return table(session, rows, source.rhs(), source.weighted());
  }

  /** Rows with k labels each as such a table. */
  static Dataset<Row> table(
      SparkSession session, JavaRDD<SparseRow> rows, int k, boolean weighted) {
    StructType schema = new StructType().add("features", SQLDataTypes.VectorType(), false);
    for (int j = 0; j < k; j++) {
      schema = schema.add(k == 1 ? "label" : "label_" + j, DataTypes.DoubleType, false);
    }
    if (weighted) {
      schema = schema.add("weight", DataTypes.DoubleType, false);
    }
    return session.createDataFrame(rows.map(r -> row(r, k, weighted)), schema);
  }

  private static Row row(SparseRow r, int k, boolean weighted) {
    Object[] fields = new Object[1 + k + (weighted ? 1 : 0)];
    fields[0] = new SparseVector(r.columns(), r.indices(), r.values());
    for (int j = 0; j < k; j++) {
      fields[1 + j] = r.labels()[j];
    }
    if (weighted) {
      fields[1 + k] = r.weight();
    }
    return RowFactory.create(fields);
  }

  /** Releases the broadcasts; the files belong to the caller. */
  @Override
  public void close() {
    sent.forEach(b -> b.destroy());
    sent.clear();
  }
}
