/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.Sampled;
import io.sparqr.backend.BackendChoice;
import io.sparqr.configuration.Keys;
import io.sparqr.numeric.storage.RowBudget;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.stored.KeptFronts;
import io.sparqr.spark.stored.TaskOutput;
import io.sparqr.sparse.CsrMatrix;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.storage.RDDBlockId;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import scala.Tuple2;
import scala.jdk.javaapi.CollectionConverters;

/**
 * R outside the heaps of two executor JVMs, partly in files: the same bits when one of them is lost
 * or fetches from the other, and nothing left after close() and after the application.
 */
@Timeout(value = 170, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Sampled(oneIn = 4)
class RowsOnExecutorsIT {

  private static final long SEED = Long.getLong("test.seed", 20261126L);
  private static final CsrMatrix A = Problems.grid(40, SEED);

  private static final int EXECUTORS = 2;

  @TempDir static Path local;

  private static JavaSparkContext context;
  private static JavaRDD<SparseRow> rows;

  @BeforeAll
  static void start() throws IOException, InterruptedException {
    context =
        LocalCluster.start(
            LocalCluster.conf("sparqr rows on executors", EXECUTORS, 1)
                .set("spark.local.dir", local.toString())
                .set(
                    "spark.executor.extraJavaOptions",
                    "-D" + Keys.FACTOR_MEMORY.name() + "=" + (1 << 16)),
            EXECUTORS);
    rows = context.parallelize(Problems.rows(A, Problems.rhs(A.rows(), SEED + 1)), 4);
  }

  @AfterAll
  static void nothingIsLeftOfTheApplication() throws IOException {
    context.stop();
    // A killed executor leaves Spark's own files of its shuffles.
    assertThat(rowFiles()).as("files with rows of R").isZero();
  }

  private static QRFactorization factorization() {
    return GpuSparseQR.builder()
        .backend(BackendChoice.CPU)
        .ordering(OrderingMethod.NESTED_DISSECTION)
        .partitionOptions(new PartitionOptions(2, 4, 3, 0))
        .factorize(rows);
  }

  /** Bytes of R outside the heap, in memory and in files, by process. */
  private static Map<Long, Tuple2<Long, Long>> kept() {
    return context
        .parallelize(IntStream.range(0, 16).boxed().toList(), 16)
        .mapToPair(
            i -> {
              // So that both executors get some of them.
              Thread.sleep(20);
              RowBudget budget = RowBudget.ofJvm();
              return new Tuple2<>(
                  ProcessHandle.current().pid(),
                  new Tuple2<>(budget.memoryBytes(), budget.fileBytes()));
            })
        .reduceByKey((a, b) -> b)
        .collectAsMap();
  }

  private static void requireNothingLeft() throws InterruptedException {
    Map<Long, Tuple2<Long, Long>> left = kept();
    // Those of a lost executor's readers may need the collector, which comes with the jobs.
    for (int k = 0; k < 100 && !empty(left.values()); k++) {
      Thread.sleep(50);
      left = kept();
    }
    assertThat(empty(left.values())).as("bytes of R left: %s", left).isTrue();
    assertThat(left).as("executors").hasSize(2);
  }

  private static boolean empty(Collection<Tuple2<Long, Long>> left) {
    return left.stream().allMatch(t -> t._1() == 0 && t._2() == 0);
  }

  private static long rowFiles() throws IOException {
    return SparkFiles.below(local, "sparqr-rows").size();
  }

  @Test
  void aLostExecutorsRowsAreMadeAgain() throws Exception {
    LocalCluster.awaitExecutors(context, EXECUTORS);
    try (QRFactorization f = factorization()) {
      double[] x = f.solve().x();
      double[] r = f.collectR().matrix().values();
      Map<Long, Tuple2<Long, Long>> before = kept();
      assertThat(before).as("executors with rows in memory and in files").hasSize(2);
      assertThat(before.values()).allMatch(t -> t._1() > 0 && t._2() > 0);
      assertThat(rowFiles()).as("files with names").isZero();
      long victim = before.keySet().iterator().next();
      ProcessHandle.of(victim).orElseThrow().destroyForcibly();
      assertThat(f.collectR().matrix().values()).as("seed %d", SEED).isEqualTo(r);
      assertThat(f.solve().x()).isEqualTo(x);
      LocalCluster.awaitExecutors(context, EXECUTORS);
      assertThat(kept()).doesNotContainKey(victim);
      assertThat(rowFiles()).as("files of the lost executor").isZero();
    }
    requireNothingLeft();
  }

  @Test
  void anExecutorFetchesWhatAnotherHas() throws InterruptedException {
    LocalCluster.awaitExecutors(context, EXECUTORS);
    try (QRFactorization f = factorization()) {
      double[] r = f.collectR().matrix().values();
      var places = new HashSet<String>();
      for (RDD<?> rdd : CollectionConverters.asJava(context.sc().getPersistentRDDs()).values()) {
        if (!String.valueOf(rdd.name()).startsWith("sparqr R, ")) {
          continue;
        }
        @SuppressWarnings("unchecked")
        JavaRDD<TaskOutput> level = ((RDD<TaskOutput>) rdd).toJavaRDD();
        for (int p = 0; p < level.getNumPartitions(); p++) {
          CollectionConverters.asJava(
                  SparkEnv.get()
                      .blockManager()
                      .master()
                      .getLocations(new RDDBlockId(level.id(), p)))
              .forEach(place -> places.add(place.executorId()));
        }
        List<byte[]> own = frames(level);
        List<byte[]> fetched = frames(level.coalesce(1));
        assertThat(fetched).hasSameSizeAs(own);
        for (int k = 0; k < own.size(); k++) {
          assertThat(fetched.get(k)).isEqualTo(own.get(k));
        }
      }
      assertThat(places).as("executors, of which one has read all").hasSize(2);
      assertThat(f.collectR().matrix().values()).as("seed %d", SEED).isEqualTo(r);
    }
    requireNothingLeft();
  }

  private static List<byte[]> frames(JavaRDD<TaskOutput> level) {
    return level.mapPartitions(kept -> KeptFronts.frames(kept, k -> true)).collect();
  }
}
