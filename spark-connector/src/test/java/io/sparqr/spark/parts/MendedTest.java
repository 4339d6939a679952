/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.parts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.spark.LocalSpark;
import io.sparqr.spark.engine.Held;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.apache.spark.storage.StorageLevel;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Stored partitions with elements that have become useless, with Spark and without. */
class MendedTest {

  private static final int PARTITIONS = 3;

  /** How often a partition was made, and which of its elements are useless up to which making. */
  private static final AtomicInteger MADE = new AtomicInteger();

  private static volatile int uselessBefore;

  /** Element k of making m of partition p is 100 m + 10 p + k. */
  private static List<Integer> made(int p) {
    int m = MADE.getAndIncrement();
    return IntStream.range(0, 4).mapToObj(k -> 100 * m + 10 * p + k).toList();
  }

  @BeforeEach
  void nothingMade() {
    MADE.set(0);
    uselessBefore = 0;
  }

  private static Parts<Integer> parts(boolean spark) {
    return spark
        ? Parts.of(
            LocalSpark.context()
                .parallelize(IntStream.range(0, PARTITIONS).boxed().toList(), PARTITIONS)
                .flatMap(p -> made(p).iterator()))
        : Parts.here(PARTITIONS, p -> made(p).iterator());
  }

  /** The third element of partition 1 is useless if it was made too early. */
  private static boolean usable(int element) {
    return element % 100 != 12 || element / 100 >= uselessBefore;
  }

  private static List<Integer> partOne(Parts<Integer> parts) {
    return parts.collect(1).get(0);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void onlyThePartitionIsMadeAgainAndStored(boolean spark) {
    try (var held = new Held()) {
      Parts<Integer> stored = parts(spark).persist(StorageLevel.MEMORY_ONLY(), held);
      Parts<Integer> mended = stored.mended(MendedTest::usable);
      assertThat(mended.count()).isEqualTo(PARTITIONS);
      List<Integer> all = mended.collect();
      assertThat(all).hasSize(4 * PARTITIONS).isEqualTo(stored.collect());
      assertThat(MADE).hasValue(PARTITIONS);
      List<Integer> before = partOne(mended);

      uselessBefore = PARTITIONS;
      List<Integer> after = partOne(mended);
      assertThat(MADE).hasValue(PARTITIONS + 1);
      // the elements before the useless one had been handed out
      assertThat(after.subList(0, 2)).isEqualTo(before.subList(0, 2));
      assertThat(after.subList(2, 4)).containsExactly(100 * PARTITIONS + 12, 100 * PARTITIONS + 13);
      assertThat(partOne(stored)).as("what is stored now").allMatch(e -> e / 100 == PARTITIONS);
      assertThat(partOne(mended)).isEqualTo(partOne(stored));
      assertThat(MADE).hasValue(PARTITIONS + 1);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void whatIsUselessEachTimeIsAnError(boolean spark) {
    try (var held = new Held()) {
      Parts<Integer> mended =
          parts(spark).persist(StorageLevel.MEMORY_ONLY(), held).mended(MendedTest::usable);
      mended.collect();
      uselessBefore = Integer.MAX_VALUE;
      assertThatThrownBy(() -> partOne(mended))
          .hasStackTraceContaining("what was stored is lost, and again when it was computed");
      uselessBefore = 0;
      assertThat(partOne(mended)).hasSize(4);
    }
  }
}
