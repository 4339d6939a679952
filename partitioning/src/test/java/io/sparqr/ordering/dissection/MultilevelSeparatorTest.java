/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering.dissection;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.ordering.FillCounter;
import io.sparqr.ordering.graph.WeightedGraph;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Random;
import org.junit.jupiter.api.Test;

class MultilevelSeparatorTest {

  @Test
  void noEdgeJoinsTheSidesAndWeightsAddUp() {
    int separated = 0;
    for (int seed = 1; seed <= 30; seed++) {
      Random random = new Random(seed);
      int n = 10 + random.nextInt(3000);
      WeightedGraph g =
          weighted(
              FillCounter.Graph.random(n, seed % 2 * 7 * n + random.nextInt(3 * n), seed), seed);
      boolean connected = g.components(new int[n], new int[n]) == 1;
      MultilevelSeparator separator = new MultilevelSeparator();
      assertThat(separator.separate(g, seed)).as("seed %d", seed).isEqualTo(connected);
      if (connected) {
        checkSeparates(g, separator, seed);
        separated++;
      }
    }
    assertThat(separated).isGreaterThan(5);
  }

  @Test
  void separatorsOfGridsAreShortAndBalanced() {
    MultilevelSeparator separator = new MultilevelSeparator();
    for (int k : new int[] {20, 45, 80, 120}) {
      WeightedGraph g = weighted(FillCounter.Graph.grid(k), 0);
      separator.separate(g, k);
      int[] weight = separator.weight();
      checkSeparates(g, separator, k);
      assertThat(weight[SeparatorState.SEPARATOR])
          .as("separator, k = %d", k)
          .isBetween(k * 8 / 10, k * 5 / 4);
      assertThat(Math.max(weight[0], weight[1]))
          .as("greater side, k = %d", k)
          .isLessThanOrEqualTo((int) (MultilevelSeparator.MAX_SIDE * g.totalWeight) + 1);
    }
  }

  @Test
  void aSpaceThatIsUsedAgainGivesTheSameCoarseGraphs() {
    CoarseningSpace used = new CoarseningSpace();
    for (int seed = 1; seed <= 30; seed++) {
      int n = seed % 3 == 0 ? 20_000 : 50 + 97 * seed;
      WeightedGraph g = weighted(FillCounter.Graph.random(n, 3 * n, seed), seed);
      CoarseningSpace fresh = new CoarseningSpace();
      WeightedGraph fine = g;
      WeightedGraph expected = g;
      for (int depth = 0; depth < 3; depth++) {
        Coarsening step = Coarsening.of(fine, 12, seed, used, depth);
        Coarsening expectedStep = Coarsening.of(expected, 12, seed, fresh, depth);
        assertThat(Arrays.copyOf(step.map(), fine.n))
            .as("map of seed %d, depth %d", seed, depth)
            .isEqualTo(Arrays.copyOf(expectedStep.map(), fine.n));
        fine = step.coarse();
        expected = expectedStep.coarse();
        assertThat(Arrays.copyOf(fine.start, fine.n + 1))
            .isEqualTo(Arrays.copyOf(expected.start, expected.n + 1));
        assertThat(Arrays.copyOf(fine.neighbor, fine.entries()))
            .as("neighbours of seed %d, depth %d", seed, depth)
            .isEqualTo(Arrays.copyOf(expected.neighbor, expected.entries()));
        assertThat(Arrays.copyOf(fine.edgeWeight, fine.entries()))
            .isEqualTo(Arrays.copyOf(expected.edgeWeight, expected.entries()));
        assertThat(Arrays.copyOf(fine.vertexWeight, fine.n))
            .isEqualTo(Arrays.copyOf(expected.vertexWeight, expected.n));
      }
    }
  }

  @Test
  void coarseningKeepsWeightsAndEdges() {
    for (int seed = 1; seed <= 20; seed++) {
      WeightedGraph g = weighted(FillCounter.Graph.random(500, 1500, seed), seed);
      Coarsening step = Coarsening.of(g, 12, seed, new CoarseningSpace(), 0);
      WeightedGraph c = step.coarse();
      assertThat(c.totalWeight).as("seed %d", seed).isEqualTo(g.totalWeight);
      assertThat(c.n).as("seed %d", seed).isLessThan(g.n * 3 / 4);
      long cut = 0;
      for (int v = 0; v < g.n; v++) {
        for (int e = g.start[v]; e < g.start[v + 1]; e++) {
          cut += step.map()[v] == step.map()[g.neighbor[e]] ? 0 : g.edgeWeight[e];
        }
      }
      long edges = 0;
      for (int e = 0; e < c.entries(); e++) {
        edges += c.edgeWeight[e];
      }
      assertThat(edges).as("edge weight between coarse vertices, seed %d", seed).isEqualTo(cut);
    }
  }

  @Test
  void starsAreCoarsenedByPairsOfLeaves() {
    int n = 1000;
    int[] start = new int[n + 1];
    int[] neighbor = new int[2 * (n - 1)];
    for (int v = 0; v < n; v++) {
      start[v + 1] = v == 0 ? n - 1 : start[v] + 1;
      if (v > 0) {
        neighbor[v - 1] = v;
      }
    }
    int[] ones = new int[2 * n];
    Arrays.fill(ones, 1);
    WeightedGraph star = new WeightedGraph(n, start, neighbor, ones, ones);
    Coarsening step = Coarsening.of(star, 100, 1, new CoarseningSpace(), 0);
    assertThat(step.coarse().n).isLessThanOrEqualTo(n / 2 + 1);
  }

  @Test
  void gainBucketsReturnGreatestGainsFirst() {
    for (int seed = 1; seed <= 20; seed++) {
      Random random = new Random(seed);
      int n = 200;
      GainBuckets queue = new GainBuckets();
      queue.reset(25);
      queue.reserve(n);
      for (int v = 0; v < n; v++) {
        queue.keep(v, 0);
      }
      int[] gain = new int[n];
      boolean[] in = new boolean[n];
      for (int step = 0; step < 2000; step++) {
        int v = random.nextInt(n);
        int k = random.nextInt(51) - 25;
        if (!in[v]) {
          queue.insert(v, gain[v] = k);
          in[v] = true;
        } else if (k % 3 == 0) {
          queue.remove(v);
          in[v] = false;
        } else {
          queue.change(v, k - gain[v]);
          gain[v] = k;
        }
        assertThat(queue.gain(v)).isEqualTo(gain[v]);
        int greatest = Integer.MIN_VALUE;
        for (int u = 0; u < n; u++) {
          greatest = in[u] ? Math.max(greatest, gain[u]) : greatest;
          assertThat(queue.contains(u)).isEqualTo(in[u]);
        }
        assertThat(queue.isEmpty()).isEqualTo(greatest == Integer.MIN_VALUE);
        if (!queue.isEmpty()) {
          assertThat(gain[queue.top()]).as("seed %d, step %d", seed, step).isEqualTo(greatest);
        }
      }
      queue.reset(25);
      assertThat(queue.isEmpty()).isTrue();
    }
  }

  @Test
  void findsTheHexagonAcrossASevenPointGrid() {
    int k = 16;
    BitSet[] rows = FillCounter.bitSets(k * k * k);
    for (int v = 0; v < rows.length; v++) {
      for (int stride = 1; stride < rows.length; stride *= k) {
        if (v / stride % k + 1 < k) {
          rows[v].set(v + stride);
          rows[v + stride].set(v);
        }
      }
    }
    WeightedGraph g = weighted(FillCounter.Graph.of(rows), 0);
    MultilevelSeparator separator = new MultilevelSeparator();
    separator.separate(g, 1);
    checkSeparates(g, separator, 1);
    assertThat(separator.weight()[SeparatorState.SEPARATOR]).isLessThanOrEqualTo(k * k * 4 / 5);
  }

  private static void checkSeparates(WeightedGraph g, MultilevelSeparator s, long seed) {
    int[] part = s.part();
    int[] weight = new int[3];
    for (int v = 0; v < g.n; v++) {
      weight[part[v]] += g.vertexWeight[v];
      for (int e = g.start[v]; e < g.start[v + 1]; e++) {
        assertThat(part[v] + part[g.neighbor[e]])
            .as("parts at an edge, seed %d", seed)
            .matches(sum -> sum != 1, "do not join side 0 and side 1");
      }
    }
    assertThat(s.weight()).as("weights, seed %d", seed).isEqualTo(weight);
  }

  private static WeightedGraph weighted(FillCounter.Graph g, long seed) {
    Random random = new Random(seed);
    int[] edge = new int[g.adj().length];
    Arrays.fill(edge, 1);
    int[] vertex = new int[g.n()];
    Arrays.setAll(vertex, v -> seed == 0 ? 1 : 1 + random.nextInt(3));
    return new WeightedGraph(g.n(), g.ptr(), g.adj(), edge, vertex);
  }
}
