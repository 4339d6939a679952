/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.IntStream;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

/** The choice of trees of fronts, on random trees. */
class GramTreeTest {

  /** Sizes of random fronts in postorder: a front's children are the last without a parent. */
  private record Sizes(int[] parents, int[] pivot, int[] others, double[] blocks)
      implements GramTree.Fronts {

    static Sizes random(Random random, int count) {
      int[] parent = new int[count];
      int[] pivots = new int[count];
      int[] tail = new int[count];
      double[] block = new double[count];
      var open = new ArrayDeque<Integer>();
      for (int f = 0; f < count; f++) {
        for (int k = random.nextInt(4); k > 0 && !open.isEmpty(); k--) {
          parent[open.pop()] = f;
        }
        open.push(f);
        parent[f] = -1;
        pivots[f] = 1 + random.nextInt(200);
      }
      for (int f = 0; f < count; f++) {
        tail[f] = parent[f] < 0 ? 0 : 1 + random.nextInt(600);
        block[f] = Math.min(tail[f], random.nextInt(800));
      }
      return new Sizes(parent, pivots, tail, block);
    }

    @Override
    public int count() {
      return parents.length;
    }

    @Override
    public int parent(int f) {
      return parents[f];
    }

    @Override
    public int pivots(int f) {
      return pivot[f];
    }

    @Override
    public int tail(int f) {
      return others[f];
    }

    @Override
    public double block(int f) {
      return blocks[f];
    }
  }

  @Test
  void treesArePaidForAndCostWhatTheirPartsDo() {
    int taken = 0;
    int left = 0;
    for (int seed = 0; seed < 300; seed++) {
      var random = new Random(seed);
      Sizes s = Sizes.random(random, 1 + random.nextInt(40));
      int count = s.count();
      double[] flops = new double[count];
      double[] rows = new double[count];
      for (int f = 0; f < count; f++) {
        double n = s.pivots(f) + s.tail(f);
        flops[f] = n * n * n * Math.pow(10, 2 * random.nextDouble() - 1);
        rows[f] = random.nextInt(1000) * GramWork.piece(1, 5, 1);
      }
      var tree = new GramTree(s, flops, rows, 1, Long.MAX_VALUE);
      double[] below = flops.clone();
      double[] cost = new double[count];
      double work = 0;
      for (int f = 0; f < count; f++) {
        int above = s.parent(f);
        double c = s.tail(f);
        double own =
            tree.isGram(f) ? GramWork.pivots(s.pivots(f), s.pivots(f) + c, 1) + rows[f] : flops[f];
        boolean inside = tree.isGram(f) && !tree.isRoot(f);
        own += inside ? GramWork.left(c) : tree.isGram(f) ? GramWork.pivots(c, c, 1) : 0;
        if (above >= 0 && tree.isGram(above) && !inside) {
          cost[above] += GramWork.piece(s.block(f), c, 1);
        }
        cost[f] += own;
        assertThat(tree.cost(f))
            .as("seed %d, front %d", seed, f)
            .isEqualTo(cost[f], within(cost[f]));
        work += cost[f];
        double all = cost[f];
        for (int g = 0; g < f; g++) {
          all += isBelow(s, g, f) ? cost[g] : 0;
        }
        if (tree.isRoot(f)) {
          taken++;
          assertThat(GramWork.GAIN * all)
              .as("seed %d, tree of %d", seed, f)
              .isLessThan(below[f] + rounded(below[f]));
          assertThat(tree.bytes(f)).isGreaterThanOrEqualTo(8L * s.pivots(f) * s.pivots(f));
        } else {
          left += tree.isGram(f) ? 0 : 1;
        }
        if (above >= 0) {
          below[above] += below[f];
        }
      }
      assertThat(tree.work()).as("seed %d", seed).isEqualTo(work, within(work));
    }
    assertThat(taken).isGreaterThan(50);
    assertThat(left).isGreaterThan(50);
  }

  /** What many children leave waits for their parent, and is far more than R. */
  @Test
  void squaresThatWaitAreCounted() {
    int children = 30;
    int[] parent = new int[children + 1];
    int[] pivots = new int[children + 1];
    int[] tail = new int[children + 1];
    double[] flops = new double[children + 1];
    for (int f = 0; f <= children; f++) {
      parent[f] = f < children ? children : -1;
      pivots[f] = f < children ? GramWork.THIN_PIVOTS + 1 : 1000;
      tail[f] = f < children ? 1000 : 0;
      flops[f] = 1e12;
    }
    var sizes = new Sizes(parent, pivots, tail, new double[children + 1]);
    var tree = new GramTree(sizes, flops, new double[children + 1], 1, Long.MAX_VALUE);
    for (int f = 0; f <= children; f++) {
      assertThat(tree.isGram(f)).as("front %d", f).isTrue();
    }
    long waiting = 8L * children * 1000 * 1001 / 2;
    assertThat(tree.bytes(children)).isBetween(waiting + 8_000_000, 2 * waiting);

    // With less memory some children are trees of their own, and leave rows.
    var less = new GramTree(sizes, flops, new double[children + 1], 1, tree.bytes(children) / 2);
    assertThat(less.isRoot(children)).isTrue();
    assertThat(IntStream.range(0, children).filter(less::isRoot).count()).isBetween(10L, 20L);
  }

  /** A long row of a thin leaf is subtracted with others: all strips of its parent wait for it. */
  @Test
  void stripsThatWaitAreCounted() {
    long[] bytes = new long[2];
    int n = 6000;
    for (int k = 0; k < 2; k++) {
      int tail = k == 0 ? 900 : 1100;
      var sizes =
          new Sizes(new int[] {1, -1}, new int[] {10, n}, new int[] {tail, 0}, new double[2]);
      var tree = new GramTree(sizes, new double[] {1e13, 1e13}, new double[2], 1, Long.MAX_VALUE);
      assertThat(tree.isGram(0) && !tree.isRoot(0)).isTrue();
      long leaf = 8 * (10L * (10 + tail) - 45);
      bytes[k] = tree.bytes(1) - leaf;
    }
    Offset<Long> digits = Offset.offset(100L); // bytes are told with seven digits
    assertThat(bytes[0]).isCloseTo(8L * (n * (n / 2 + 100L) + 2048L * n), digits);
    assertThat(bytes[1]).isCloseTo(8L * (n * (n / 2 + 100L) + n * (n / 2L)), digits);
  }

  /** Trees as large as the memory allows, and their bytes as a replay of them counts. */
  @Test
  void aTreeTakesNoMoreThanItMay() {
    int none = 0;
    int smaller = 0;
    for (int seed = 0; seed < 300; seed++) {
      var random = new Random(seed);
      Sizes s = Sizes.random(random, 1 + random.nextInt(40));
      double[] flops = random.doubles(s.count(), 1e9, 1e11).toArray();
      double[] rows = random.doubles(s.count(), 0, 1e7).toArray();
      long free = 0;
      for (int part = 1; part <= 64; part *= 2) {
        long most = part == 1 ? Long.MAX_VALUE : free / part;
        var tree = new GramTree(s, flops, rows, 1, most);
        int taken = 0;
        for (int f = 0; f < s.count(); f++) {
          taken += tree.isGram(f) ? 1 : 0;
          if (tree.isRoot(f)) {
            long bytes = replayed(s, tree, f);
            assertThat(tree.bytes(f)).as("seed %d, tree of %d", seed, f).isEqualTo(bytes);
            assertThat(bytes).as("seed %d, of %d", seed, most).isLessThanOrEqualTo(most);
            free = part == 1 ? Math.max(free, bytes) : free;
          }
        }
        none += taken == 0 ? 1 : 0;
        smaller += part > 1 && taken > 0 ? 1 : 0;
      }
    }
    assertThat(none).isGreaterThan(50);
    assertThat(smaller).isGreaterThan(50);
  }

  /** Doubles of a front while its products are summed: high parts, and low ones that are there. */
  private static double summed(double n, boolean wait) {
    double high = n <= 1024 ? n * n : n * (n / 2 + 100);
    return high + (wait || n <= 4096 ? n * n / 2 : 2048 * n);
  }

  /**
   * Bytes of a tree, front by front in postorder: what waits is a list of triangles with the front
   * that takes each, R a sum. A front that is cheaper in its parent leaves what waits for it there.
   */
  private static long replayed(Sizes s, GramTree tree, int root) {
    double r = 0;
    double most = 0;
    double[] further = new double[s.count()];
    double[] waiting = new double[s.count()];
    boolean[] inner = new boolean[s.count()];
    boolean[] wait = new boolean[s.count()];
    for (int f = 0; f <= root; f++) {
      int above = s.parent(f);
      boolean inside = f == root || isBelow(s, f, root) && isJoined(s, tree, f, root);
      double c = s.tail(f);
      double p = s.pivots(f) + further[f];
      if (!inside) {
        inner[Math.max(above, 0)] |= above >= 0 && s.block(f) > 1;
        continue;
      }
      double all = Arrays.stream(waiting).sum();
      if (f == root) {
        most = Math.max(most, all + summed(p + c, wait[f]));
        break;
      }
      double wide = s.pivots(above) + s.tail(above) + further[above];
      if (GramWork.pivots(p, wide + p, 1) < GramWork.pivots(p, p + c, 1) + GramWork.left(c)) {
        further[above] += p;
        waiting[above] += waiting[f];
        inner[above] |= inner[f];
        wait[above] |= wait[f];
      } else {
        boolean thin = !inner[f] && p <= Math.min(GramWork.THIN_PIVOTS, c);
        wait[above] |= thin && 6 * c >= wide;
        most = Math.max(most, all + (thin ? 0 : summed(p + c, wait[f])));
        r += GramWork.entries(p, p + c);
        waiting[above] += thin ? 0 : c * (c + 1) / 2;
        inner[above] = true;
      }
      waiting[f] = 0;
    }
    return (long) (8 * (r + most));
  }

  /** Whether all fronts from f to the root are by the Gram matrix. */
  private static boolean isJoined(Sizes s, GramTree tree, int f, int root) {
    for (int g = f; g != root; g = s.parent(g)) {
      if (!tree.isGram(g) || tree.isRoot(g)) {
        return false;
      }
    }
    return true;
  }

  private static Offset<Double> within(double size) {
    return org.assertj.core.api.Assertions.within(rounded(size));
  }

  /** Sums of up to 40 terms in another order. */
  private static double rounded(double size) {
    return 40 * Math.ulp(size);
  }

  private static boolean isBelow(Sizes s, int g, int f) {
    int k = g;
    while (k >= 0 && k < f) {
      k = s.parent(k);
    }
    return k == f;
  }
}
