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

  /** Each member's elements with its frame, of which one is too long to go with a task. */
  @Test
  void aGroupReadsPartitionsOfSeveralSourcesInItsOrder() {
    Parts<Integer> one = both().get(0);
    Parts<Integer> other = one.map((p, it) -> List.of(-p).iterator());
    byte[] far = new byte[300 << 10];
    far[0] = 5;
    List<List<Parts.Member>> groups =
        List.of(
            List.of(
                new Parts.Member(0, 2, new byte[] {1, 0, 0, 0, 0}),
                new Parts.Member(1, 1, far),
                new Parts.Member(0, 1, new byte[] {3, 0, 0, 0, 0})),
            List.of(new Parts.Member(1, 2, new byte[] {4, 0, 0, 0, 0})));
    try (var held = new Held()) {
      Parts<String> made =
          Parts.grouped(
              List.of(one, other),
              groups,
              held,
              (members, given) -> {
                var all = new ArrayList<String>();
                for (int k = 0; k < members.size(); k++) {
                  pairs(members.get(k).get(), "/" + given.get(k)[0] + "/" + given.get(k).length)
                      .forEachRemaining(all::add);
                }
                return all.iterator();
              });
      assertThat(made.collect())
          .containsExactly("20/1/5", "21/1/5", "-1/5/307200", "10/3/5", "-2/4/5");
    }
  }

  @Test
  void whereElementsAreStoredIsKnownOnlyIfTheyAre() {
    for (Parts<Integer> parts : both()) {
      boolean spark = parts.either(rdd -> true, () -> false);
      try (var held = new Held()) {
        assertThat(parts.storedAt()).isEmpty();
        parts.persist(StorageLevel.MEMORY_ONLY(), held);
        parts.collect(1, 2);
        List<List<String>> at =
            spark ? List.of(List.of(), List.of("driver"), List.of("driver")) : List.of();
        assertThat(parts.storedAt()).isEqualTo(at);
        assertThat(parts.map((p, it) -> it).storedAt()).isEqualTo(at);
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
