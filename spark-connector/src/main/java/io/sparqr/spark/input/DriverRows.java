/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.input;

import io.sparqr.spark.file.RowSlice;
import io.sparqr.spark.file.SliceRdd;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.rows.RowSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.storage.StorageLevel;

/**
 * A problem on the driver as an RDD of rows. On a cluster the rows are sent to the executors once
 * and stay there until this is closed; with a local master the tasks read the driver's arrays
 * directly.
 */
public final class DriverRows implements AutoCloseable {

  /** Problems for local tasks; a serialized task cannot carry a reference. */
  private static final Map<Long, LocalProblem> HELD = new ConcurrentHashMap<>();

  private static final AtomicLong NEXT = new AtomicLong();

  private final long id = NEXT.incrementAndGet();

  /** Null with a local master. */
  private final JavaRDD<RowSlice> kept;

  private final JavaRDD<SparseRow> rows;

  /** Cuts a problem into partitions with about equal numbers of rows. */
  public DriverRows(JavaSparkContext context, LocalProblem problem, int partitions) {
    int parts = partitions(problem, partitions);
    if (context.isLocal()) {
      HELD.put(id, problem);
      long key = id;
      List<Integer> numbers = IntStream.range(0, parts).boxed().toList();
      kept = null;
      rows =
          SliceRdd.of(context.parallelize(numbers, parts).map(p -> slice(HELD.get(key), p, parts)));
    } else {
      List<RowSlice> list = new ArrayList<>(parts);
      for (int p = 0; p < parts; p++) {
        list.add(slice(problem, p, parts).copy());
      }
      kept = context.parallelize(list, parts).persist(StorageLevel.MEMORY_AND_DISK());
      rows = SliceRdd.of(kept);
    }
    rows.setName("rows of A");
  }

  /** These rows in the same partitions, for a solve in this JVM. */
  public static RowSource local(LocalProblem problem, int partitions) {
    int parts = partitions(problem, partitions);
    return RowSource.local(parts, p -> slice(problem, p, parts).reusedRows());
  }

  private static int partitions(LocalProblem problem, int wanted) {
    return Math.max(1, Math.min(wanted, problem.a().rows()));
  }

  private static RowSlice slice(LocalProblem problem, int part, int parts) {
    long m = problem.a().rows();
    return RowSlice.shared(
        problem.a(), problem.b(), (int) (m * part / parts), (int) (m * (part + 1) / parts));
  }

  /** The rows. */
  public JavaRDD<SparseRow> rows() {
    return rows;
  }

  @Override
  public void close() {
    HELD.remove(id);
    if (kept != null) {
      kept.unpersist(false);
    }
  }
}
