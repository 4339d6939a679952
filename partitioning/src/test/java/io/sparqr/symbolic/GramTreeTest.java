/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;

/** The choice of trees of fronts, on random trees. */
class GramTreeTest {

  /** Sizes of random fronts in postorder: every front's parent is a later one. */
  private record Sizes(int[] parents, int[] pivot, int[] others, double[] blocks)
      implements GramTree.Fronts {

    static Sizes random(Random random, int count) {
      int[] parent = new int[count];
      int[] pivots = new int[count];
      int[] tail = new int[count];
      double[] block = new double[count];
      for (int f = 0; f < count; f++) {
        boolean root = f == count - 1 || random.nextInt(10) == 0;
        parent[f] = root ? -1 : f + 1 + random.nextInt(Math.min(3, count - f - 1));
        pivots[f] = 1 + random.nextInt(200);
        tail[f] = root ? 0 : 1 + random.nextInt(600);
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
      var tree = new GramTree(s, flops, rows, 1);
      double[] below = flops.clone();
      double[] cost = new double[count];
      double work = 0;
      for (int f = 0; f < count; f++) {
        int above = s.parent(f);
        double c = s.tail(f);
        double own =
            tree.isGram(f) ? GramWork.pivots(s.pivots(f), s.pivots(f) + c, 1) + rows[f] : flops[f];
        boolean inside = above >= 0 && tree.isGram(above) && tree.isGram(f);
        own += inside ? GramWork.left(c) : tree.isGram(f) ? GramWork.pivots(c, c, 1) : 0;
        if (above >= 0 && tree.isGram(above) && !tree.isGram(f)) {
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
          assertThat(tree.bytes(f)).isGreaterThan(8L * s.pivots(f) * s.pivots(f));
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
    var tree = new GramTree(sizes, flops, new double[children + 1], 1);
    for (int f = 0; f <= children; f++) {
      assertThat(tree.isGram(f)).as("front %d", f).isTrue();
    }
    long square = 8L * (1000 + GramWork.THIN_PIVOTS + 1) * (1000 + GramWork.THIN_PIVOTS + 1);
    assertThat(tree.bytes(children)).isBetween(children * square, 2 * children * square);
  }

  private static org.assertj.core.data.Offset<Double> within(double size) {
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
