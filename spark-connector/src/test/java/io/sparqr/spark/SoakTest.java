/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.UnixOperatingSystemMXBean;
import io.sparqr.Sampling;
import io.sparqr.numeric.Tolerances;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.spark.report.LeastSquaresSolution;
import io.sparqr.sparse.CsrMatrix;
import java.lang.management.ManagementFactory;
import java.util.Random;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Random problems in one context leave nothing behind. -Dsoak.problems=1000 runs more of them. */
@Tag("numbers")
class SoakTest {

  private static final long SEED = Long.getLong("test.seed", 20261122L);
  private static final int[] PROBLEMS = Sampling.numbers("soak.problems", 200).toArray();

  /** The objects that one context holds after some problems. */
  private record Held(long heap, int threads, long files, int rdds) {

    static Held now(JavaSparkContext context) throws InterruptedException {
      // Garbage collection notifies the context's cleaner.
      long least = Long.MAX_VALUE;
      for (int k = 0; k < 5; k++) {
        System.gc();
        Thread.sleep(100);
        Runtime r = Runtime.getRuntime();
        least = Math.min(least, r.totalMemory() - r.freeMemory());
      }
      var os = (UnixOperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
      return new Held(
          least,
          ManagementFactory.getThreadMXBean().getThreadCount(),
          os.getOpenFileDescriptorCount(),
          context.getPersistentRDDs().size());
    }
  }

  private static void solve(int k) {
    var random = new Random(SEED + k);
    int n = 10 + random.nextInt(80);
    CsrMatrix a = Problems.random(n + random.nextInt(3 * n), n, 1 + random.nextInt(6), SEED + k);
    double[] b = Problems.rhs(a.rows(), SEED - k);
    LeastSquaresSolution s =
        GpuSparseQR.builder()
            .executors(1 + random.nextInt(3))
            .partitionOptions(new PartitionOptions(2, 4, 1 + random.nextInt(3), 0))
            .keepQ(random.nextInt(4) == 0)
            .refinement(random.nextInt(2))
            .ridge(random.nextInt(3) == 0 ? 0.1 : 0)
            .minimumNorm(false)
            .solve(Problems.rdd(a, 1 + random.nextInt(4), b));
    assertThat(s.report().proof().normDeparture())
        .as("problem %d, seed %d", k, SEED)
        .isLessThan(Tolerances.DEPARTURE);
  }

  @Test
  void nothingGrows() throws InterruptedException {
    JavaSparkContext context = LocalSpark.context();
    int warm = PROBLEMS.length / 4;
    for (int k = 0; k < warm; k++) {
      solve(PROBLEMS[k]);
    }
    Held before = Held.now(context);
    for (int k = warm; k < PROBLEMS.length; k++) {
      solve(PROBLEMS[k]);
    }
    Held after = Held.now(context);
    // what leaks one in three times is seen, and in a short run what leaks each time
    int room = Math.max(8, (PROBLEMS.length - warm) / 3);
    assertThat(after.rdds).as("persisted RDDs").isLessThanOrEqualTo(before.rdds);
    assertThat(after.threads)
        .as("threads: %s, then %s", before, after)
        .isLessThan(before.threads + room);
    assertThat(after.files).as("files: %s, then %s", before, after).isLessThan(before.files + room);
    // Spark's own listing of jobs and stages grows until its limits are met.
    assertThat(after.heap)
        .as("heap: %s, then %s", before, after)
        .isLessThan(before.heap + (48L << 20));
  }
}
