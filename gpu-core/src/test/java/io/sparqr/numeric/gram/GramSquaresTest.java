/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.gram;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.numeric.dense.StaircaseQr;
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
    int first = 0;
    for (int seed = 0; seed < 400; seed++) {
      boolean rootFirst = seed % 2 == 1;
      String as = "seed %d, root %s".formatted(seed, rootFirst ? "first" : "last");
      GramShape shape = tree(seed / 2).shape;
      var chunks = new GramChunks(shape);
      boolean[] thin = new boolean[shape.fronts()];
      var together = new GramSquares(shape, chunks, thin, 1, Long.MAX_VALUE, rootFirst);
      var apart = new GramSquares(shape, chunks, thin, 1, 1, rootFirst);
      assertThat(apart.most()).as(as).isLessThanOrEqualTo(together.most());
      less += apart.most() < together.most() ? 1 : 0;
      int[] ends = apart.batches();
      several += ends.length > 1 ? 1 : 0;
      int before = 0;
      for (int end : ends) {
        assertThat(end).as(as).isGreaterThan(before);
        before = end;
      }
      assertThat(before).as(as).isEqualTo(chunks.chunk.length);
      assertThat(together.batches()).hasSizeLessThanOrEqualTo(1);
      assertThat(together.most()).as(as).isEqualTo(replayed(shape, chunks, together));
      assertThat(apart.most()).as(as).isEqualTo(replayed(shape, chunks, apart));
      first += GramSquares.of(shape, chunks, thin, 1, 1).rootFirst() ? 1 : 0;
    }
    assertThat(several).isGreaterThan(200);
    assertThat(less).isGreaterThan(40);
    assertThat(first).isBetween(8, 392);
  }

  /** Doubles, batch by batch, from what each front needs and leaves. */
  private static long replayed(GramShape shape, GramChunks chunks, GramSquares squares) {
    int root = shape.fronts() - 1;
    int n = shape.pivots(root) + shape.tail(root);
    long square = StaircaseQr.length(n, n + 1L);
    long open = squares.rootFirst() ? square : 0;
    long[] left = new long[shape.fronts()];
    long most = open;
    int from = 0;
    for (int end : squares.batches()) {
      long all = open + Arrays.stream(left).sum();
      for (int c = from; c < end; c++) {
        all += replayed(shape, chunks.chunk[c], left, 0);
      }
      most = Math.max(most, all);
      if (squares.rootFirst()) {
        taken(shape, root, left);
      }
      from = end;
    }
    for (int k : chunks.top) {
      long before = open + Arrays.stream(left).sum();
      if (k == root) {
        most = Math.max(most, squares.rootFirst() ? before : before + square);
        continue;
      }
      most = Math.max(most, replayed(shape, new int[] {k}, left, before));
      if (squares.rootFirst()) {
        taken(shape, root, left);
      }
    }
    return most;
  }

  private static long replayed(GramShape shape, int[] fronts, long[] left, long before) {
    long live = before;
    long peak = 0;
    for (int k : fronts) {
      long n = shape.pivots(k) + shape.tail(k);
      peak = Math.max(peak, live + n * n);
      live -= taken(shape, k, left);
      left[k] = shape.tail(k) * (shape.tail(k) + 1L) / 2;
      live += left[k];
      peak = Math.max(peak, live + n * n);
    }
    return peak;
  }

  /** What children leave, which is gone. */
  private static long taken(GramShape shape, int k, long[] left) {
    long sum = 0;
    for (int c = 0; c < k; c++) {
      if (shape.parent()[c] == k) {
        sum += left[c];
        left[c] = 0;
      }
    }
    return sum;
  }
}
