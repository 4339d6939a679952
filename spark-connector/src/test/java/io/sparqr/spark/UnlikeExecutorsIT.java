/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.Sampled;
import io.sparqr.backend.BackendChoice;
import io.sparqr.configuration.Keys;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.spark.report.SolveReport;
import io.sparqr.sparse.CsrMatrix;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** An executor that cannot load OpenBLAS beside one that can: the report says both. */
@Sampled
@Timeout(value = 120, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class UnlikeExecutorsIT {

  private static final long SEED = Long.getLong("test.seed", 20261128L);

  /** A link, which is refused as a folder of native code. */
  private static void forbid(JavaSparkContext context, Path link) {
    String folder = link.toString();
    String key = Keys.NATIVE_FOLDER.name();
    List<String> changed;
    do {
      changed =
          context
              .parallelize(List.of(1, 2, 3, 4), 4)
              .map(
                  i -> {
                    Thread.sleep(200);
                    String id = SparkEnv.get().executorId();
                    return id.equals("0") ? id + System.setProperty(key, folder) : "";
                  })
              .collect();
    } while (changed.stream().noneMatch(id -> id.startsWith("0")));
  }

  @Test
  void theReasonAndTheDifferenceAreWarnings(@TempDir Path folder)
      throws IOException, InterruptedException {
    Path link = folder.resolve("link");
    Files.createSymbolicLink(link, folder);
    CsrMatrix a = Problems.grid(40, SEED);
    double[] b = Problems.rhs(a.rows(), SEED + 1);
    try (JavaSparkContext context =
        LocalCluster.start(LocalCluster.conf("sparqr unlike executors", 2, 1), 2)) {
      forbid(context, link);
      SolveReport report =
          GpuSparseQR.builder()
              .backend(BackendChoice.CPU)
              .ordering(OrderingMethod.NESTED_DISSECTION)
              .partitionOptions(new PartitionOptions(2, 8, 2, 0))
              .solve(context.parallelize(Problems.rows(a, b), 4))
              .report();
      assertThat(report.warnings())
          .anySatisfy(
              w ->
                  assertThat(w)
                      .startsWith("pure Java BLAS, about three times slower: ")
                      .contains("is a symbolic link of ", Keys.NATIVE_FOLDER.name()))
          .anySatisfy(
              w ->
                  assertThat(w)
                      .startsWith("executors with different BLAS (")
                      .contains("cpu: OpenBLAS", "kernels ", "cpu: pure Java BLAS"));
    }
  }
}
