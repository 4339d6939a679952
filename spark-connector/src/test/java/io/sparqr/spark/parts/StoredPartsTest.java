/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.parts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.sparqr.spark.LocalSpark;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.memory.MemoryMode;
import org.apache.spark.storage.RDDBlockId;
import org.apache.spark.storage.StorageLevel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import scala.Option;

class StoredPartsTest {

  private static final Duration LONGEST = Duration.ofSeconds(20);

  private static JavaRDD<double[]> numbers() {
    List<Integer> all = IntStream.range(0, 1000).boxed().toList();
    return LocalSpark.context().parallelize(all, 3).map(i -> new double[] {i, -i});
  }

  private static JavaRDD<double[]> stored(StorageLevel level) {
    JavaRDD<double[]> rdd = numbers().persist(level);
    rdd.count();
    return rdd;
  }

  /** Fails if a reader has kept a lock: Spark would wait for it for ever. */
  private static void requireNoLocks(JavaRDD<double[]> rdd) {
    assertTimeoutPreemptively(LONGEST, () -> rdd.unpersist(true));
  }

  @Test
  void theElementsOfEachPartition() {
    JavaRDD<double[]> rdd = stored(StorageLevel.MEMORY_ONLY());
    for (int turn = 0; turn < 2; turn++) {
      try (StoredParts<double[]> parts = StoredParts.of(rdd).orElseThrow()) {
        for (int reading = 0; reading < 2; reading++) {
          var all = new ArrayList<double[]>();
          for (int p = 0; p < 3; p++) {
            parts.partition(p).forEachRemaining(all::add);
          }
          assertThat(all.toArray(new double[0][]))
              .isDeepEqualTo(rdd.collect().toArray(new double[0][]));
        }
      }
    }
    requireNoLocks(rdd);
  }

  @Test
  void nothingIsLockedAfterHalfAReading() {
    JavaRDD<double[]> rdd = stored(StorageLevel.MEMORY_AND_DISK());
    try (StoredParts<double[]> parts = StoredParts.of(rdd).orElseThrow()) {
      Iterator<double[]> second = parts.partition(1);
      second.next();
      parts.partition(0).forEachRemaining(r -> {});
    }
    requireNoLocks(rdd);
  }

  /** Evicts every block that is not locked. */
  private static void evictAll() {
    var store = SparkEnv.get().blockManager().memoryStore();
    long freed;
    do {
      freed = store.evictBlocksToFreeSpace(Option.empty(), 1, MemoryMode.ON_HEAP);
    } while (freed > 0);
  }

  private static boolean isThere(JavaRDD<double[]> rdd, int partition) {
    var id = new RDDBlockId(rdd.id(), partition);
    return SparkEnv.get().blockManager().memoryStore().contains(id);
  }

  @Test
  void nothingIsEvictedBetweenTwoReadings() {
    JavaRDD<double[]> rdd = stored(StorageLevel.MEMORY_ONLY());
    try (StoredParts<double[]> parts = StoredParts.of(rdd).orElseThrow()) {
      parts.partition(0).forEachRemaining(r -> {});
      evictAll();
      assertThat(isThere(rdd, 0)).as("read to its end").isTrue();
      assertThat(parts.partition(0).next()).hasSize(2);
      assertThat(parts.partition(2).next()).hasSize(2);
    }
    evictAll();
    assertThat(isThere(rdd, 0)).isFalse();
    assertThat(StoredParts.of(rdd)).isEmpty();
    requireNoLocks(rdd);
  }

  @Test
  void whatIsNotThereTakesAJob() {
    assertThat(StoredParts.of(numbers())).as("not persisted").isEmpty();
    JavaRDD<double[]> notYet = numbers().persist(StorageLevel.MEMORY_ONLY());
    assertThat(StoredParts.of(notYet)).as("not computed").isEmpty();
    notYet.unpersist();
  }

  @ParameterizedTest
  @ValueSource(strings = {"MEMORY_ONLY_SER", "DISK_ONLY"})
  void bytesTakeAJob(String level) {
    JavaRDD<double[]> rdd = stored(StorageLevel.fromString(level));
    assertThat(StoredParts.of(rdd)).isEmpty();
    requireNoLocks(rdd);
  }
}
