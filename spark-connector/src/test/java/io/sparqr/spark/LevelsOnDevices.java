/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.backend.BackendChoice;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.report.LeastSquaresSolution;
import io.sparqr.spark.report.SolveReport;
import io.sparqr.sparse.CsrMatrix;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A tree of tasks over two executor JVMs, each with the R of its tasks on its device and nowhere
 * else. The device is the plain Java executor. On the cluster of {@link OnlyOnDeviceIT}.
 */
@Timeout(value = 170, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
abstract class LevelsOnDevices {

  private static final long SEED = Long.getLong("test.seed", 20261126L);
  private static final CsrMatrix A = Problems.grid(40, SEED);
  private static final int EXECUTORS = 2;

  private static JavaSparkContext context;

  @BeforeAll
  static void begin() throws InterruptedException {
    context = OnlyOnDeviceIT.context();
    LocalCluster.awaitExecutors(context, EXECUTORS);
    // a task waits for the executor that has its R; each stage looks at the live setting
    context.sc().conf().set("spark.locality.wait", "30s");
  }

  @AfterAll
  static void end() {
    context.sc().conf().set("spark.locality.wait", "0");
  }

  private static JavaRDD<SparseRow> rows(long seed) {
    return context.parallelize(Problems.rows(A, Problems.rhs(A.rows(), seed)), 4);
  }

  /** A tree over both executors, R of each task on the device of its executor. */
  @Test
  void tasksOfSeveralLevelsSolveWhereTheirRIs() throws InterruptedException {
    var builder =
        GpuSparseQR.builder()
            .backend(BackendChoice.REQUIRE_CUDA)
            .partitionOptions(new PartitionOptions(2, 4, 3, 0));
    JavaRDD<SparseRow> others = rows(SEED + 2);
    try (QRFactorization f = builder.factorize(rows(SEED + 1))) {
      SolveReport.Analysis cut = f.summary().analysis();
      assertThat(cut.levels()).isGreaterThan(1);
      Map<Long, HeldOnDevices> all = HeldOnDevices.byProcess(context);
      assertThat(all.values().stream().mapToLong(HeldOnDevices::device).sum())
          .isEqualTo(cut.subtreeTasks());
      assertThat(all.values()).as("both").allMatch(h -> h.device() > 0 && h.host() == 0);
      double[] x = f.solve().x();
      LeastSquaresSolution other = f.solveRelabeled(others);
      assertThat(HeldOnDevices.byProcess(context).values())
          .as("no rows on the host")
          .allMatch(h -> h.host() == 0);
      assertThat(String.join("\n", other.report().notes()))
          .contains(
              "R on the device for %d of %d tasks"
                  .formatted(cut.subtreeTasks(), cut.subtreeTasks()));

      ProcessHandle.of(all.keySet().iterator().next()).orElseThrow().destroyForcibly();
      assertThat(f.solveRelabeled(others).x()).as("seed %d", SEED).isEqualTo(other.x());
      assertThat(f.solve().x()).isEqualTo(x);
      LocalCluster.awaitExecutors(context, EXECUTORS);
    }
    HeldOnDevices.requireNothing(context);
  }
}
