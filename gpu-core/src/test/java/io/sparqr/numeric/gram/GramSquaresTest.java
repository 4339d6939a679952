/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.gram;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.numeric.dense.ColumnStrips;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Memory of trees whose chunks go in batches. */
class GramSquaresTest {

  private static GramCase tree(int seed) {
    var random = new Random(seed);
    return GramCase.tree(random, 60, 9, 12, (i, j) -> random.nextGaussian());
  }

  @Test
  void batchesOfSmallChunksTakeNoMoreThanOneLargeSquare() {
    int several = 0;
    int less = 0;
    for (int seed = 0; seed < 200; seed++) {
      GramShape shape = tree(seed).shape;
      var chunks = new GramChunks(shape);
      boolean[] thin = new boolean[shape.fronts()];
      var together = new GramSquares(shape, chunks, thin, 1, Long.MAX_VALUE);
      var apart = new GramSquares(shape, chunks, thin, 1, 1);
      assertThat(apart.most()).as("seed %d", seed).isLessThanOrEqualTo(together.most());
      less += apart.most() < together.most() ? 1 : 0;
      int[] ends = apart.batches();
      several += ends.length > 1 ? 1 : 0;
      int before = 0;
      for (int end : ends) {
        assertThat(end).as("seed %d", seed).isGreaterThan(before);
        before = end;
      }
      assertThat(before).as("seed %d", seed).isEqualTo(chunks.chunk.length);
      assertThat(together.batches()).hasSizeLessThanOrEqualTo(1);
      assertThat(together.most()).as("seed %d", seed).isEqualTo(replayed(shape, chunks, together));
      assertThat(apart.most()).as("seed %d", seed).isEqualTo(replayed(shape, chunks, apart));
    }
    assertThat(several).isGreaterThan(100);
    assertThat(less).isGreaterThan(20);
  }

  /** Doubles, batch by batch, from what each front needs and leaves. */
  private static long replayed(GramShape shape, GramChunks chunks, GramSquares squares) {
    long[] left = new long[shape.fronts()];
    long most = 0;
    int from = 0;
    for (int end : squares.batches()) {
      long all = Arrays.stream(left).sum();
      for (int c = from; c < end; c++) {
        all += replayed(shape, chunks.chunk[c], left, 0);
      }
      most = Math.max(most, all);
      from = end;
    }
    return Math.max(most, replayed(shape, chunks.top, left, Arrays.stream(left).sum()));
  }

  private static long replayed(GramShape shape, int[] fronts, long[] left, long before) {
    long live = before;
    long peak = 0;
    for (int k : fronts) {
      int n = shape.pivots(k) + shape.tail(k);
      boolean root = shape.parent()[k] < 0;
      long square = ColumnStrips.length(n, root ? n + 1L : n);
      // In twice the precision while they are summed.
      peak = Math.max(peak, live + square + n * (n + 1L) / 2);
      for (int c = 0; c < k; c++) {
        if (shape.parent()[c] == k) {
          live -= left[c];
          left[c] = 0;
        }
      }
      if (!root) {
        left[k] = shape.tail(k) * (shape.tail(k) + 1L) / 2;
        live += left[k];
        peak = Math.max(peak, live + square);
      }
    }
    return peak;
  }
}
