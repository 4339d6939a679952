/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.parts;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.spark.LocalSpark;
import io.sparqr.spark.exchange.Exchange;
import io.sparqr.spark.pattern.ColumnChunks;
import io.sparqr.spark.pattern.ColumnSums;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** What tasks find comes to the driver with the same bits by every way. */
class GatheredTest {

  private static final int PARTITIONS = 4;
  private static final int LENGTH = 30_000;

  /** Sums that depend on the order of their terms. */
  private static final double[] TERM = {0.1, 1e16, 1.7, -1e16};

  record Figures(int partition, double term) implements OfPartition {}

  private static List<Parts<Integer>> both() {
    List<Integer> numbers = List.of(0, 1, 2, 3);
    return List.of(
        Parts.of(LocalSpark.context().parallelize(numbers, PARTITIONS)),
        Parts.here(PARTITIONS, p -> List.of(p).iterator()));
  }

  private static Found<Figures, ColumnChunks> found(int partition) {
    var vector = new ColumnChunks();
    for (int j = partition; j < LENGTH; j += 1 + partition) {
      vector.add(j, TERM[partition] / (1 + j));
    }
    return new Found<>(new Figures(partition, TERM[partition]), vector);
  }

  private static double[] sum(Gathered<Figures, ColumnChunks> found) {
    double[] sum = new double[LENGTH];
    ColumnChunks.merge(found.tables(), Double::sum, sum, 2);
    return sum;
  }

  private static Gathering<Figures, ColumnChunks> how(
      long tableBytes, int keys, long eagerBytes, Runnable shuffled) {
    return new Gathering<>(
        "sums",
        "sums, merged",
        Figures.class,
        ColumnSums.INSTANCE,
        new Gathering.Limits(tableBytes, keys, eagerBytes, 100_000),
        shuffled);
  }

  @Test
  void theBitsAreThoseOfSumsInTheOrderOfThePartitions() {
    double[] expected = new double[LENGTH];
    for (int p = 0; p < PARTITIONS; p++) {
      for (int j = p; j < LENGTH; j += 1 + p) {
        expected[j] += TERM[p] / (1 + j);
      }
    }
    int open = Exchange.open();
    for (Parts<Integer> parts : both()) {
      for (long tableBytes : new long[] {0, 1, 200_000, 1 << 30}) {
        for (long eagerBytes : new long[] {0, 50_000, Long.MAX_VALUE}) {
          for (int keys : new int[] {1, 3}) {
            var shuffled = new AtomicInteger();
            Gathered<Figures, ColumnChunks> found =
                how(tableBytes, keys, eagerBytes, shuffled::incrementAndGet)
                    .of(parts, (p, in) -> found(in.next()));
            assertThat(shuffled.get()).isEqualTo(tableBytes == 1 << 30 ? 0 : 1);
            assertThat(found.shuffleBytes() > 0).isEqualTo(shuffled.get() > 0);
            assertThat(found.figures())
                .extracting(Figures::term)
                .containsExactly(TERM[0], TERM[1], TERM[2], TERM[3]);
            assertThat(sum(found)).isEqualTo(expected);
          }
        }
      }
    }
    assertThat(Exchange.open()).isEqualTo(open);
  }
}
