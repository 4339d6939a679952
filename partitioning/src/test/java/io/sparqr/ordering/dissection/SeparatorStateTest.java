/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering.dissection;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.ordering.graph.WeightedGraph;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

class SeparatorStateTest {
  private static final int LEFT = 0;

  /** Moves at random, some of them taken back, against weights and gains counted anew. */
  @Test
  void movesKeepPartsWeightsAndGains() {
    for (int seed = 1; seed <= 40; seed++) {
      Random random = new Random(seed);
      WeightedGraph g = graph(3 + random.nextInt(60), random);
      SeparatorState s = new SeparatorState();
      s.bind(g);
      s.openOnSide(1);
      s.pullIn(random.nextInt(g.n), LEFT);
      while (s.weight[LEFT] < s.weight[1] && !s.toward[LEFT].isEmpty()) {
        s.move(s.toward[LEFT].top(), LEFT);
      }
      s.settle();
      for (int pass = 0; pass < 6; pass++) {
        int members = s.memberCount();
        s.queueAll(members == 0 ? 0 : random.nextInt(members));
        int[][] after = new int[g.n + 1][];
        after[0] = parts(g, s);
        while (s.moves() < g.n) {
          int to = random.nextInt(2);
          to = s.toward[to].isEmpty() ? 1 - to : to;
          if (s.toward[to].isEmpty()) {
            break;
          }
          int top = s.toward[to].top();
          int gain = s.toward[to].gain(top);
          int before = s.weight[SeparatorState.SEPARATOR];
          s.move(top, to);
          assertThat(before - s.weight[SeparatorState.SEPARATOR])
              .as("seed %d, pass %d: a gain and what was gained", seed, pass)
              .isEqualTo(gain);
          after[s.moves()] = parts(g, s);
          check(g, s, seed);
        }
        int kept = s.moves() == 0 ? 0 : random.nextInt(s.moves() + 1);
        s.undoTo(kept);
        assertThat(parts(g, s)).as("seed %d: parts after undoing", seed).isEqualTo(after[kept]);
        check(g, s, seed);
      }
      s.close();
      int[] part = Arrays.copyOf(s.part, g.n);
      assertThat(Arrays.stream(part).allMatch(p -> p >= 0 && p <= 2)).as("seed %d", seed).isTrue();
      int[] weight = s.weight.clone();
      s.recompute();
      assertThat(s.weight).as("seed %d", seed).isEqualTo(weight);
    }
  }

  private static void check(WeightedGraph g, SeparatorState s, int seed) {
    int[] part = parts(g, s);
    int[] weight = new int[3];
    for (int v = 0; v < g.n; v++) {
      weight[part[v]] += g.vertexWeight[v];
      for (int e = g.start[v]; e < g.start[v + 1]; e++) {
        assertThat(part[v] + part[g.neighbor[e]]).as("edge, seed %d", seed).isNotEqualTo(1);
      }
    }
    assertThat(s.weight).as("seed %d", seed).isEqualTo(weight);
  }

  /** Members have numbers from 4 on while moves are made, vertices that have moved 2 more. */
  private static int[] parts(WeightedGraph g, SeparatorState s) {
    int[] part = new int[g.n];
    Arrays.setAll(part, v -> s.part[v] >= 4 ? SeparatorState.SEPARATOR : s.part[v] & 1);
    return part;
  }

  /** A path and random edges, with weights. */
  private static WeightedGraph graph(int n, Random random) {
    boolean[][] edge = new boolean[n][n];
    for (int v = 0; v < n; v++) {
      int[] ends = {Math.max(0, v - 1), random.nextInt(n)};
      for (int u : ends) {
        edge[u][v] = u != v;
        edge[v][u] = u != v;
      }
    }
    int[] start = new int[n + 1];
    int[] neighbor = new int[n * n];
    int end = 0;
    for (int v = 0; v < n; v++) {
      for (int u = 0; u < n; u++) {
        if (edge[v][u]) {
          neighbor[end++] = u;
        }
      }
      start[v + 1] = end;
    }
    int[] ones = new int[n * n];
    Arrays.fill(ones, 1);
    return new WeightedGraph(n, start, neighbor, ones, random.ints(n, 1, 4).toArray());
  }
}
