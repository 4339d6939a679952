/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.Sampled;
import io.sparqr.backend.BackendChoice;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.report.LeastSquaresSolution;
import io.sparqr.spark.report.ProgressListener;
import io.sparqr.spark.report.SolveReport;
import io.sparqr.sparse.CsrMatrix;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Executors that come late: the tree is cut for all of them, and the report says so. */
@Timeout(value = 170, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("once")
@Sampled
class LateExecutorsIT {

  private static final long SEED = Long.getLong("test.seed", 20261401L);
  private static final CsrMatrix A = Problems.grid(60, SEED);
  private static final double[] B = Problems.rhs(A.rows(), SEED + 1);
  private static final int EXECUTORS = 3;

  private static JavaSparkContext context(Map<String, String> settings) throws Exception {
    SparkConf conf = LocalCluster.conf("late executors", EXECUTORS, 1);
    settings.forEach(conf::set);
    return new JavaSparkContext(conf);
  }

  private static GpuSparseQR.Builder solver() {
    return GpuSparseQR.builder()
        .backend(BackendChoice.CPU)
        .ordering(OrderingMethod.NESTED_DISSECTION)
        .partitions(2)
        .partitionOptions(new PartitionOptions(2, 4, 3, 0));
  }

  private static SolveReport.Cluster cluster(LeastSquaresSolution s) {
    return s.report().cluster();
  }

  @Test
  void thoseThatRegisterSlowlyAreWaitedFor(@TempDir Path folder) throws Exception {
    Map<String, String> settings =
        Map.of(
            "spark.scheduler.minRegisteredResourcesRatio", "1.0",
            "spark.scheduler.maxRegisteredResourcesWaitingTime", "100s",
            "spark.executor.extraJavaOptions", LateStart.option(folder));
    try (JavaSparkContext context = context(settings)) {
      JavaRDD<SparseRow> rows = context.parallelize(Problems.rows(A, B), 4);
      List<String> waits = new ArrayList<>();
      ProgressListener letGo =
          p -> {
            if (p.phase().equals("executors")) {
              waits.add(p.detail());
              LateStart.letGo(folder);
            }
          };
      LeastSquaresSolution late = solver().listener(letGo).solve(rows);
      assertThat(waits).containsExactly("1 of 3 are there");
      assertThat(cluster(late).executors()).isEqualTo(EXECUTORS);
      assertThat(cluster(late).waitedSeconds()).isPositive();
      assertThat(late.report().seconds().plan())
          .isGreaterThanOrEqualTo(cluster(late).waitedSeconds());
      assertThat(late.report().warnings()).isEmpty();

      LeastSquaresSolution again = solver().solve(rows);
      assertThat(cluster(again).executors()).isEqualTo(EXECUTORS);
      assertThat(cluster(again).waitedSeconds()).isZero();
      assertThat(again.report().analysis()).isEqualTo(late.report().analysis());
      assertThat(again.x()).as("seed %d", SEED).isEqualTo(late.x());

      LeastSquaresSolution more = solver().minimumExecutors(4).executorWait(0.3).solve(rows);
      assertThat(cluster(more).executors()).isEqualTo(EXECUTORS);
      assertThat(cluster(more).waitedSeconds()).isGreaterThanOrEqualTo(0.3);
      assertThat(more.report().warnings())
          .singleElement()
          .asString()
          .matches("waited \\d+\\.\\d s for 4 executors, 3 came: planned for these");
      assertThat(more.x()).isEqualTo(late.x());
    }
  }

  @Test
  void dynamicAllocationIsAskedForThem() throws Exception {
    Map<String, String> settings =
        Map.of(
            "spark.dynamicAllocation.enabled", "true",
            "spark.dynamicAllocation.initialExecutors", "0",
            "spark.dynamicAllocation.minExecutors", "0",
            "spark.dynamicAllocation.maxExecutors", Integer.toString(EXECUTORS),
            "spark.dynamicAllocation.schedulerBacklogTimeout", "1s");
    try (JavaSparkContext context = context(settings)) {
      JavaRDD<SparseRow> rows = context.parallelize(Problems.rows(A, B), 1);
      LeastSquaresSolution few = solver().solve(rows);
      assertThat(cluster(few).executors()).as("one task, one executor").isEqualTo(1);
      assertThat(cluster(few).waitedSeconds()).isZero();

      LeastSquaresSolution all = solver().minimumExecutors(3).executorWait(100).solve(rows);
      assertThat(cluster(all).executors()).isEqualTo(EXECUTORS);
      assertThat(cluster(all).waitedSeconds()).isPositive();
      assertThat(all.report().warnings()).isEmpty();
      assertThat(all.report().analysis().subtreeTasks())
          .as("the plan has tasks for all")
          .isGreaterThan(few.report().analysis().subtreeTasks());
      LeastSquaresSolution told = solver().executors(3).solve(rows);
      assertThat(all.report().analysis()).isEqualTo(told.report().analysis());
      assertThat(all.x()).as("seed %d", SEED).isEqualTo(told.x());

      assertThatThrownBy(() -> solver().minimumExecutors(4).solve(rows))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("minimumExecutors = 4, but spark.dynamicAllocation.maxExecutors is 3");
      assertThat(context.sc().getPersistentRDDs().size()).isZero();
      assertThat(context.statusTracker().getActiveJobIds()).as("nobody waits any more").isEmpty();
    }
  }
}
