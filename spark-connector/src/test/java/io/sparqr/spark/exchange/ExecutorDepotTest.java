/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.jvm.ByteBudget;
import io.sparqr.spark.LocalSpark;
import io.sparqr.spark.engine.ClassTags;
import io.sparqr.spark.parts.Parts;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.serializer.JavaSerializer;
import org.apache.spark.serializer.KryoSerializer;
import org.apache.spark.serializer.Serializer;
import org.apache.spark.serializer.SerializerInstance;
import org.apache.spark.storage.RDDBlockId;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** An executor's depot, whose executor is this JVM. */
class ExecutorDepotTest {

  private static final long MOST = 1000;
  private static final ByteBudget ROOM = new ByteBudget(MOST);
  private static final AtomicInteger COMPUTED = new AtomicInteger();

  private ExecutorDepot driver;

  /** As tasks have it. */
  private ExecutorDepot depot;

  @BeforeEach
  void open() {
    driver = new ExecutorDepot(LocalSpark.context(), "values", () -> ROOM);
    depot = sent(driver, new JavaSerializer(new SparkConf()));
  }

  @AfterEach
  void nothingIsLeft() throws InterruptedException {
    driver.close();
    awaitRoom();
    assertThat(LocalSpark.context().sc().getPersistentRDDs().size()).isZero();
  }

  /** The driver does not wait for executors to drop what they hold. */
  private static void awaitRoom() throws InterruptedException {
    for (int k = 0; k < 200 && ROOM.left() < MOST; k++) {
      Thread.sleep(10);
    }
    assertThat(ROOM.left()).isEqualTo(MOST);
  }

  @SuppressWarnings("unchecked")
  private static <T> T sent(T value, Serializer by) {
    SerializerInstance s = by.newInstance();
    ByteBuffer bytes = s.serialize(value, ClassTags.<T>any());
    return (T) s.deserialize(bytes, ClassTags.any());
  }

  private boolean leave(long number, Object value, long bytes) {
    return depot.take(bytes) && depot.keep(number, value, bytes);
  }

  @Test
  void whatATaskLeavesLaterOnesFind() {
    assertThat(leave(3, "three", 600)).isTrue();
    assertThat(leave(4, "four", 500)).isFalse();
    assertThat(ROOM.left()).isEqualTo(400);
    assertThat(depot.find(3, String.class)).contains("three");
    assertThat(depot.find(3, String.class)).contains("three");
    assertThat(depot.find(4, String.class)).isEmpty();
  }

  @Test
  void ofTwoAttemptsTheFirstIsHeld() {
    assertThat(leave(3, "three", 300)).isTrue();
    assertThat(leave(3, "again", 200)).isFalse();
    assertThat(ROOM.left()).isEqualTo(700);
    assertThat(depot.find(3, String.class)).contains("three");
  }

  @Test
  void whatComesAfterTheEndIsNotHeld() throws InterruptedException {
    assertThat(leave(3, "three", 300)).isTrue();
    driver.close();
    driver.close();
    awaitRoom();
    assertThat(leave(5, "five", 200)).isFalse();
    assertThat(depot.find(5, String.class)).isEmpty();
    assertThat(ROOM.left()).isEqualTo(MOST);
  }

  @Test
  void theCallersBlocksDoNotGiveWay() {
    long[] large = new long[1 << 17];
    assertThat(leave(3, large, 10)).isTrue();
    var stored = SparkEnv.get().blockManager().memoryStore();
    assertThat(stored.getSize(new RDDBlockId(rdd(), 3))).isLessThan(1 << 12);
  }

  private int rdd() {
    return (Integer) LocalSpark.context().sc().getPersistentRDDs().keys().head();
  }

  @Test
  void whereSparkMovesItAValueIsEmpty() {
    var deposit = new Deposit("here", 0, ROOM);
    for (Serializer by :
        List.of(new JavaSerializer(new SparkConf()), new KryoSerializer(new SparkConf()))) {
      Deposit there = sent(deposit, by);
      assertThat(there.value()).isEmpty();
      there.close();
    }
    assertThat(deposit.value()).contains("here");
  }

  @Test
  void aPartitionThatNobodyAsksForIsNotComputed() {
    COMPUTED.set(0);
    JavaRDD<Integer> rdd =
        LocalSpark.context()
            .parallelize(IntStream.range(0, 40).boxed().toList(), 4)
            .mapPartitions(
                it -> {
                  COMPUTED.incrementAndGet();
                  return it;
                });
    leave(1, "one", 10);
    Depot values = driver;
    List<String> found =
        Parts.of(rdd)
            .near(driver, false)
            .map(
                (p, it) ->
                    values
                        .find(p, String.class)
                        .map(v -> List.of(v).iterator())
                        .orElseGet(() -> List.of("" + it.next()).iterator()))
            .collect();
    assertThat(found).containsExactly("0", "one", "20", "30");
    assertThat(COMPUTED).hasValue(3);
  }
}
