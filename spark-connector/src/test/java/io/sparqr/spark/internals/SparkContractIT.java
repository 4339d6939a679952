/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.internals;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.spark.LocalCluster;
import java.util.List;
import java.util.OptionalInt;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.storage.StorageLevel;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import scala.Tuple2;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag$;

/** The same as {@link SparkContractTest} for what takes executors in JVMs of their own. */
@Timeout(value = 170, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SparkContractIT {

  private static final long PATIENCE_MILLIS = 60_000;

  /** Bytes that cannot be compressed. */
  private static final long RANDOM = 100_000;

  private static JavaSparkContext context;

  @BeforeAll
  static void start() throws Exception {
    context =
        LocalCluster.start(
            LocalCluster.conf("sparqr contract tests", 2, 2).set("spark.task.maxFailures", "1"), 2);
  }

  @AfterAll
  static void stop() {
    if (context != null) {
      context.stop();
    }
  }

  @Test
  void theExecutorsOfTheApplication() {
    List<SparkCluster.LiveExecutor> executors = SparkCluster.executors(context.sc());
    assertThat(executors)
        .extracting(SparkCluster.LiveExecutor::id)
        .containsExactlyInAnyOrder("0", "1");
    assertThat(executors)
        .allSatisfy(
            e -> {
              assertThat(e.cores()).isEqualTo(2);
              assertThat(e.gpus()).isZero();
              assertThat(e.hostPort()).startsWith("127.0.0.1:");
            });
    assertThat(SparkCluster.runningTasks(context.sc(), "0")).isEqualTo(OptionalInt.of(0));
    assertThat(SparkCluster.runningTasks(context.sc(), "7")).isEmpty();
  }

  @Test
  void aTaskRunsWhereItIsToRun() {
    List<String> ran = List.of("0", "1").stream().map(SparkContractIT::whereItRan).toList();
    assertThat(ran).containsExactly("0", "1");
  }

  private static String whereItRan(String executor) {
    var places =
        CollectionConverters.asScala(List.of(SparkCluster.location("127.0.0.1", executor)));
    var one = List.of(new Tuple2<>(1, places.toSeq()));
    return context
        .sc()
        .<Integer>makeRDD(
            CollectionConverters.asScala(one).toSeq(), ClassTag$.MODULE$.apply(Integer.class))
        .toJavaRDD()
        .map(i -> SparkProcess.executor().orElse("driver"))
        .first();
  }

  @Test
  void blocksOfExecutorsAreFoundFromTheDriver() {
    JavaRDD<Object> none = context.<Object>emptyRDD().persist(StorageLevel.MEMORY_ONLY());
    int rdd = none.id();
    List<String> left =
        context
            .parallelize(List.of(0, 1, 2, 3), 4)
            .map(
                k -> {
                  StoredBlocks.put(rdd, k, "left by " + k);
                  return SparkProcess.executor().orElseThrow();
                })
            .collect();
    assertThat(StoredBlocks.executors(rdd, 5))
        .containsExactly(
            List.of(left.get(0)),
            List.of(left.get(1)),
            List.of(left.get(2)),
            List.of(left.get(3)),
            List.of());
    assertThat(StoredBlocks.fetched(rdd, 1)).contains("left by 1");
    assertThat(StoredBlocks.fetched(rdd, 5)).isEmpty();
    StoredBlocks.removeEverywhere(rdd, 2);
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(PATIENCE_MILLIS);
    while (StoredBlocks.isStored(rdd, 2) && System.nanoTime() < end) {
      Thread.onSpinWait();
    }
    assertThat(StoredBlocks.isStored(rdd, 2)).isFalse();
    none.unpersist(true);
    assertThat(StoredBlocks.isStored(rdd, 3)).isFalse();
  }

  @Test
  void bytesWrittenByTheStageThatFailedLast() throws Exception {
    assertThat(SparkCluster.bytesWrittenByFailedStage(context.sc())).isZero();
    assertThatThrownBy(
            () ->
                context
                    .parallelize(List.of(0, 1), 2)
                    .mapToPair(SparkContractIT::writtenOrFailed)
                    .groupByKey(2)
                    .count())
        .hasMessageContaining("planted");
    SparkCluster.awaitStatus(context.sc(), PATIENCE_MILLIS);
    assertThat(SparkCluster.bytesWrittenByFailedStage(context.sc())).isBetween(RANDOM, 2 * RANDOM);
  }

  /** Fails in the second task, some time after the first one has written. */
  private static Tuple2<Integer, byte[]> writtenOrFailed(int task) throws InterruptedException {
    if (task == 1) {
      Thread.sleep(3000);
      throw new IllegalStateException("planted");
    }
    var bytes = new byte[(int) RANDOM];
    new Random(1).nextBytes(bytes);
    return new Tuple2<>(task, bytes);
  }
}
