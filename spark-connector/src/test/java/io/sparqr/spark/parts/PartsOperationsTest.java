/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.parts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.spark.LocalSpark;
import io.sparqr.spark.engine.Held;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.SparkException;
import org.apache.spark.storage.StorageLevel;
import org.junit.jupiter.api.Test;
import scala.Tuple2;

/** What a solve does with partitions is the same with Spark and without. */
class PartsOperationsTest {

  private static final int COUNT = 3;

  /** Partition p has 10 p, .. 10 p + p - 1: the first one nothing. */
  private static List<Integer> partition(int p) {
    return IntStream.range(0, p).mapToObj(k -> 10 * p + k).toList();
  }

  private static List<Parts<Integer>> both() {
    Parts<Integer> spark =
        Parts.of(LocalSpark.context().parallelize(List.of(0, 1, 2), COUNT))
            .map((p, it) -> partition(p).iterator());
    return List.of(spark, Parts.here(COUNT, p -> partition(p).iterator()));
  }

  private static Iterator<String> pairs(Iterator<Integer> elements, String given) {
    var pairs = new ArrayList<String>();
    elements.forEachRemaining(k -> pairs.add(k + given));
    return pairs.iterator();
  }

  @Test
  void elementsComeInTheOrderOfThePartitions() {
    for (Parts<Integer> parts : both()) {
      assertThat(parts.collect()).containsExactly(10, 20, 21);
      assertThat(parts.collect(2, 0)).containsExactly(List.of(20, 21), List.of());
      assertThat(parts.collect(new int[0])).isEmpty();
    }
  }

  @Test
  void aPartitionGetsWhatIsGivenForIt() {
    for (Parts<Integer> parts : both()) {
      Parts<String> pairs = parts.map(List.of("a", "b", "c"), PartsOperationsTest::pairs);
      assertThat(pairs.collect()).containsExactly("10b", "20c", "21c");
      assertThat(pairs.collect(1)).containsExactly(List.of("10b"));
    }
  }

  @Test
  void somethingMustBeGivenForEachPartition() {
    for (Parts<Integer> parts : both()) {
      for (List<String> given : List.of(List.of("a", "b"), List.of("a", "b", "c", "d"))) {
        assertThatThrownBy(() -> parts.map(given, PartsOperationsTest::pairs))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessage(given.size() + " values for 3 partitions");
      }
    }
  }

  @Test
  void aFailureOfATaskReachesTheCaller() {
    Parts<Integer> failing =
        both()
            .get(0)
            .map(
                (p, it) -> {
                  throw new IllegalStateException("of partition " + p);
                });
    assertThatThrownBy(failing::collect)
        .isInstanceOf(SparkException.class)
        .hasMessageContaining("of partition");
  }

  @Test
  void whatIsReleasedIsComputedAgain() {
    try (var held = new Held()) {
      for (Parts<Integer> parts : both()) {
        var computed = LocalSpark.context().sc().longAccumulator();
        Parts<Integer> stored =
            parts
                .map(
                    (p, it) -> {
                      computed.add(1);
                      return it;
                    })
                .persist(StorageLevel.MEMORY_ONLY(), held);
        stored.collect();
        stored.collect();
        assertThat(computed.value()).isEqualTo(COUNT);
        stored.release();
        assertThat(stored.collect()).containsExactly(10, 20, 21);
        assertThat(computed.value()).isEqualTo(2 * COUNT);
        Parts<Tuple2<Integer, byte[]>> shuffled =
            stored.shuffle(2, (p, it) -> List.of(new Tuple2<>(p % 2, new byte[p])).iterator());
        List<Integer> sent = shuffled.collect().stream().map(t -> t._2().length).toList();
        assertThat(sent).containsExactly(0, 2, 1);
        shuffled.release();
        assertThat(shuffled.collect().stream().map(t -> t._2().length).toList()).isEqualTo(sent);
      }
    }
    assertThat(LocalSpark.context().getPersistentRDDs()).isEmpty();
  }
}
