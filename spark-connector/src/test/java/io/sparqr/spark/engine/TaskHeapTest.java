/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.spark.LocalSpark;
import io.sparqr.spark.StoredRdds;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.storage.RDDInfo;
import org.apache.spark.storage.StorageLevel;
import org.junit.jupiter.api.Test;

/**
 * The predicted memory of tasks pushes blocks of Spark out of the heap, but no more than necessary.
 */
class TaskHeapTest {

  private static final long MB = 1 << 20;
  private static final int BLOCKS = 12;

  @Test
  void whatFindsNoRoomIsTheExcess() {
    assertThat(TaskHeap.excess(1000 * MB, 400 * MB, 100 * MB)).isZero();
    assertThat(TaskHeap.excess(1000 * MB, 400 * MB, 300 * MB)).isEqualTo(100 * MB);
    assertThat(TaskHeap.excess(1000 * MB, 100 * MB, 900 * MB))
        .as("no more than there is")
        .isEqualTo(100 * MB);
    assertThat(TaskHeap.excess(1000 * MB, 0, 2000 * MB)).isZero();
  }

  @Test
  void aTaskThatNeedsTheHeapHasItAndTheBlocksAreOnDisk() {
    JavaSparkContext context = LocalSpark.context();
    JavaRDD<long[]> kept = blocks(context);
    try {
      List<Long> sums = sums(kept);
      assertThat(info(context, kept).memSize()).isGreaterThanOrEqualTo(BLOCKS * MB);
      long heap = Runtime.getRuntime().maxMemory();

      take(context, ((long) (0.5 * heap) - used()) / 2);
      assertThat(info(context, kept).memSize()).as("there was room").isGreaterThan(11 * MB);

      take(context, heap);
      assertThat(info(context, kept).memSize()).isZero();
      assertThat(info(context, kept).diskSize()).isGreaterThanOrEqualTo(BLOCKS * MB);
      assertThat(sums(kept)).isEqualTo(sums);
    } finally {
      kept.unpersist(true);
    }
  }

  @Test
  void tasksThatBeginTogetherEvictTheirNeedOnce() {
    JavaSparkContext context = LocalSpark.context();
    for (int k = 0; k < 20; k++) {
      JavaRDD<long[]> kept = blocks(context);
      try {
        kept.count();
        long blocks = used();
        // 5 MB have to go, and whole blocks do
        take(context, ((long) (0.6 * Runtime.getRuntime().maxMemory()) - blocks + 5 * MB) / 2);
        assertThat(used()).isLessThanOrEqualTo(blocks - 5 * MB).isGreaterThan(blocks - 9 * MB);
      } finally {
        kept.unpersist(true);
      }
    }
  }

  /** Blocks of a megabyte, not yet stored. */
  private static JavaRDD<long[]> blocks(JavaSparkContext context) {
    return context
        .parallelize(IntStream.range(0, BLOCKS).boxed().toList(), BLOCKS)
        .map(k -> LongStream.range(0, MB / 8).map(i -> i * k).toArray())
        .persist(StorageLevel.MEMORY_AND_DISK());
  }

  private static long used() {
    return SparkEnv.get().memoryManager().onHeapStorageMemoryUsed();
  }

  /** Two tasks, which begin and end together. */
  private static void take(JavaSparkContext context, long bytes) {
    assertThat(context.defaultParallelism()).isGreaterThanOrEqualTo(2);
    Both.LATCH.set(new CyclicBarrier(2));
    context
        .parallelize(List.of(0, 1), 2)
        .foreach(
            k -> {
              Both.LATCH.get().await();
              // one of the two wakes up late; both leave this loop at the same moment
              Both.RUNNING.incrementAndGet();
              while (Both.RUNNING.get() % 2 != 0) {
                Thread.onSpinWait();
              }
              TaskHeap.take(TaskContext.get(), bytes);
              Both.LATCH.get().await();
            });
  }

  /** Of this JVM: the master is local. */
  private static final class Both {
    static final AtomicInteger RUNNING = new AtomicInteger();

    static final AtomicReference<CyclicBarrier> LATCH = new AtomicReference<>();
  }

  private static List<Long> sums(JavaRDD<long[]> of) {
    return of.map(a -> Arrays.stream(a).sum()).collect();
  }

  private static RDDInfo info(JavaSparkContext context, JavaRDD<?> rdd) {
    return StoredRdds.of(context).stream()
        .filter(i -> i.id() == rdd.id())
        .findFirst()
        .orElseThrow();
  }
}
