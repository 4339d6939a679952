/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.input;

import io.sparqr.spark.engine.Engine;
import io.sparqr.spark.engine.Held;
import io.sparqr.spark.exchange.Exchange;
import io.sparqr.spark.file.RowSlice;
import io.sparqr.spark.file.SliceRdd;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.rows.RowSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.storage.StorageLevel;

/**
 * A problem on the driver as an RDD of rows. On a cluster the rows are sent to the executors once
 * and stay there until this is closed; where the tasks share the driver's objects they read its
 * arrays directly.
 */
public final class DriverRows implements AutoCloseable {

  private final Held held = new Held();

  private final JavaRDD<SparseRow> rows;

  /** Cuts a problem into partitions with about equal numbers of rows. */
  public DriverRows(JavaSparkContext context, LocalProblem problem, int partitions) {
    int parts = partitions(problem, partitions);
    Optional<Exchange> here = Exchange.of(Engine.of(context));
    if (here.isPresent()) {
      Exchange problems = here.get();
      held.onClose(problems::close);
      problems.put(0, problem);
      List<Integer> numbers = IntStream.range(0, parts).boxed().toList();
      rows =
          SliceRdd.of(
              context
                  .parallelize(numbers, parts)
                  .map(p -> slice(problems.get(0, LocalProblem.class), p, parts)));
    } else {
      List<RowSlice> list = new ArrayList<>(parts);
      for (int p = 0; p < parts; p++) {
        list.add(slice(problem, p, parts).copy());
      }
      rows =
          SliceRdd.of(
              held.persist(context.parallelize(list, parts), StorageLevel.MEMORY_AND_DISK()));
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

  /** The rows of A, which the driver has read. */
  public JavaRDD<SparseRow> rows() {
    return rows;
  }

  @Override
  public void close() {
    held.close();
  }
}
