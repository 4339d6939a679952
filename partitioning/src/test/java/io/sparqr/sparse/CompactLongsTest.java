/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.sparse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

class CompactLongsTest {

  private static final long SEED = Long.getLong("test.seed", 20260203L);

  /** Values around every width's largest, negative ones, few and many of them. */
  @Test
  void everyValueComesBack() {
    var random = new Random(SEED);
    long[] edge = {0, 254, 255, 256, 65534, 65535, 65536, (1L << 32) - 2, (1L << 32) - 1, 1L << 32};
    long[] far = {-1, Long.MIN_VALUE, Long.MAX_VALUE, 1L << 53};
    for (int round = 0; round < 500; round++) {
      long[] values = new long[random.nextInt(40)];
      int rare = 1 + random.nextInt(20);
      for (int k = 0; k < values.length; k++) {
        values[k] =
            random.nextInt(rare) > 0
                ? random.nextInt(200)
                : random.nextBoolean()
                    ? edge[random.nextInt(edge.length)]
                    : far[random.nextInt(far.length)];
      }
      CompactLongs c = CompactLongs.of(values);
      assertThat(c.size()).isEqualTo(values.length);
      for (int k = 0; k < values.length; k++) {
        assertThat(c.get(k)).as("seed %d, round %d", SEED, round).isEqualTo(values[k]);
      }
      assertThat(c.bytes()).isLessThanOrEqualTo(8L * values.length);
    }
  }

  @Test
  void fewLargeValuesCostTwelveBytesEach() {
    long[] values = new long[1000];
    Arrays.fill(values, 7);
    values[3] = 1L << 40;
    values[999] = -5;
    assertThat(CompactLongs.of(values).bytes()).isEqualTo(1000 + 2 * 12);
    Arrays.fill(values, 300);
    assertThat(CompactLongs.of(values).bytes()).isEqualTo(2000);
  }

  @Test
  void partsThatDoNotBelongTogetherAreRefused() {
    byte[] cells = {1, -1, 2};
    assertThat(new CompactLongs(cells, new int[] {1}, new long[] {9}).get(1)).isEqualTo(9);
    for (int[] listed : new int[][] {{}, {0}, {1, 2}}) {
      assertThatThrownBy(() -> new CompactLongs(cells, listed, new long[listed.length]))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }
}
