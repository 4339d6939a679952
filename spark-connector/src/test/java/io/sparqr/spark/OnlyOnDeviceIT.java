/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.Sampled;
import io.sparqr.backend.BackendChoice;
import io.sparqr.backend.reference.PlainDevice;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.sparse.CsrMatrix;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.storage.StorageLevel;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import scala.jdk.javaapi.CollectionConverters;

/**
 * R that is on the device of one of two executor JVMs and nowhere else: the same bits when that one
 * is lost, loses R, or another one fetches it, and nothing left after close(). The device is the
 * plain Java executor.
 */
@Timeout(value = 170, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Sampled(oneIn = 4)
class OnlyOnDeviceIT {

  private static final long SEED = Long.getLong("test.seed", 20261126L);
  private static final CsrMatrix A = Problems.grid(40, SEED);

  private static final int EXECUTORS = 2;

  private static JavaSparkContext context;
  private static JavaRDD<SparseRow> rows;

  @BeforeAll
  static void start() throws IOException, InterruptedException {
    context =
        LocalCluster.start(
            LocalCluster.conf("sparqr R on a device", EXECUTORS, 1)
                .set("spark.locality.wait", "0")
                .set("spark.executorEnv.CUDA_VISIBLE_DEVICES", "0")
                .set("spark.executor.extraJavaOptions", "-D" + PlainDevice.ON + "=true"),
            EXECUTORS);
    rows = context.parallelize(Problems.rows(A, Problems.rhs(A.rows(), SEED + 1)), 4);
  }

  @AfterAll
  static void stop() {
    context.stop();
  }

  /** The cluster, for other tests on one of this shape. */
  static JavaSparkContext context() {
    return context;
  }

  @Nested
  class OverLevels extends LevelsOnDevices {}

  private static QRFactorization factorization(StorageLevel level) {
    return GpuSparseQR.builder()
        .backend(BackendChoice.REQUIRE_CUDA)
        .storageLevel(level)
        .factorize(rows);
  }

  /** The entries of R where it is stored as bytes. */
  private static double[] ofFrames() {
    try (QRFactorization f = factorization(StorageLevel.MEMORY_ONLY_SER())) {
      return f.collectR().matrix().values();
    }
  }

  /** The process with R on its device, the only one, and none of it on the host. */
  private static long holder() {
    Map<Long, HeldOnDevices> all = HeldOnDevices.byProcess(context);
    assertThat(all.values().stream().mapToLong(HeldOnDevices::device).sum())
        .as("%s", all)
        .isEqualTo(1);
    assertThat(all.values()).allMatch(h -> h.host() == 0);
    return all.entrySet().stream()
        .filter(e -> e.getValue().device() > 0)
        .findFirst()
        .orElseThrow()
        .getKey();
  }

  @Test
  void aLostExecutorsRIsMadeAgain() throws InterruptedException {
    double[] r = ofFrames();
    LocalCluster.awaitExecutors(context, EXECUTORS);
    try (QRFactorization f = factorization(StorageLevel.MEMORY_AND_DISK())) {
      double[] x = f.solve().x();
      ProcessHandle.of(holder()).orElseThrow().destroyForcibly();
      assertThat(f.solve().x()).as("seed %d", SEED).isEqualTo(x);
      assertThat(f.collectR().matrix().values()).isEqualTo(r);
      LocalCluster.awaitExecutors(context, EXECUTORS);
    }
    HeldOnDevices.requireNothing(context);
  }

  @Test
  void whatADeviceLosesIsMadeAgain() throws InterruptedException {
    double[] r = ofFrames();
    LocalCluster.awaitExecutors(context, EXECUTORS);
    try (QRFactorization f = factorization(StorageLevel.MEMORY_AND_DISK())) {
      double[] x = f.solve().x();
      holder();
      context
          .parallelize(IntStream.range(0, 16).boxed().toList(), 16)
          .foreach(
              i -> {
                Thread.sleep(20);
                PlainDevice.lose();
              });
      assertThat(f.solve().x()).as("seed %d", SEED).isEqualTo(x);
      assertThat(f.collectR().matrix().values()).isEqualTo(r);
    }
    HeldOnDevices.requireNothing(context);
  }

  @Test
  void anExecutorFetchesWhatAnothersDeviceHas() throws Exception {
    double[] r = ofFrames();
    LocalCluster.awaitExecutors(context, EXECUTORS);
    try (QRFactorization f = factorization(StorageLevel.MEMORY_AND_DISK())) {
      f.solve();
      long holder = holder();
      JavaRDD<Object> level = level();
      var busy =
          level
              .mapPartitions(
                  kept -> {
                    Thread.sleep(8000);
                    return java.util.List.of(ProcessHandle.current().pid()).iterator();
                  })
              .collectAsync();
      Thread.sleep(1000);
      assertThat(f.collectR().matrix().values()).as("seed %d", SEED).isEqualTo(r);
      assertThat(busy.isDone()).as("the holder was busy all the time").isFalse();
      assertThat(busy.get()).containsExactly(holder);
    }
    HeldOnDevices.requireNothing(context);
  }

  @SuppressWarnings("unchecked")
  private static JavaRDD<Object> level() {
    for (RDD<?> rdd : CollectionConverters.asJava(context.sc().getPersistentRDDs()).values()) {
      if (String.valueOf(rdd.name()).startsWith("sparqr R, ")) {
        return ((RDD<Object>) rdd).toJavaRDD();
      }
    }
    throw new AssertionError("no level of R is stored");
  }
}
