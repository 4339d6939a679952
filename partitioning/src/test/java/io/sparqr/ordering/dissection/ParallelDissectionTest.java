/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering.dissection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.Sampled;
import io.sparqr.ordering.graph.WeightedGraph;
import io.sparqr.threads.ParallelLoop;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Test;

/** Parallel work on large graphs gives the same result on any number of threads. */
class ParallelDissectionTest {
  private static final int[] THREADS = {2, 3, 8};

  @Sampled(oneIn = 3)
  @Test
  void theOrderIsTheSameWhateverTheThreads() {
    graphs()
        .forEach(
            (name, g) -> {
              int[] one = new NestedDissection(1).order(g);
              int[] sorted = one.clone();
              Arrays.sort(sorted);
              int[] identity = new int[g.n];
              Arrays.setAll(identity, v -> v);
              assertThat(sorted).as("%s: a permutation", name).isEqualTo(identity);
              for (int threads : THREADS) {
                assertThat(new NestedDissection(threads).order(g))
                    .as("%s, %d threads", name, threads)
                    .isEqualTo(one);
              }
            });
  }

  @Test
  void separatorsOfLargeGraphsSeparateWhateverTheThreads() {
    graphs()
        .forEach(
            (name, g) -> {
              if (g.n < 2) {
                return;
              }
              boolean connected = g.components(new int[g.n], new int[g.n]) == 1;
              MultilevelSeparator alone = new MultilevelSeparator();
              assertThat(alone.separate(g, 7)).as(name).isEqualTo(connected);
              MultilevelSeparator together = new MultilevelSeparator();
              inPool(8, () -> together.separate(g, 7));
              if (!connected) {
                return;
              }
              int[] part = alone.part();
              assertThat(Arrays.copyOf(together.part(), g.n))
                  .as(name)
                  .isEqualTo(Arrays.copyOf(part, g.n));
              int[] weight = new int[3];
              int joining = 0;
              for (int v = 0; v < g.n; v++) {
                weight[part[v]] += g.vertexWeight[v];
                for (int e = g.start[v]; e < g.start[v + 1]; e++) {
                  joining += part[v] + part[g.neighbor[e]] == 1 ? 1 : 0;
                }
              }
              assertThat(joining).as("%s: edges between the sides", name).isZero();
              assertThat(alone.weight()).as(name).isEqualTo(weight);
            });
  }

  @Sampled(oneIn = 3)
  @Test
  void largeGraphsAreContractedWithoutLossAndWithoutDoubles() {
    graphs()
        .forEach(
            (name, g) -> {
              int maxWeight = 5;
              Coarsening step = Coarsening.of(g, maxWeight, 3, new CoarseningSpace(), 0);
              WeightedGraph c = step.coarse();
              Map<Long, Integer> expected = new HashMap<>();
              int[] weight = new int[c.n];
              for (int v = 0; v < g.n; v++) {
                weight[step.map()[v]] += g.vertexWeight[v];
                for (int e = g.start[v]; e < g.start[v + 1]; e++) {
                  long from = step.map()[v];
                  long to = step.map()[g.neighbor[e]];
                  if (from != to) {
                    expected.merge(from << 32 | to, g.edgeWeight[e], Integer::sum);
                  }
                }
              }
              assertThat(Arrays.copyOf(c.vertexWeight, c.n)).as(name).isEqualTo(weight);
              assertThat(Arrays.stream(weight).max().orElse(0))
                  .as(name)
                  .isLessThanOrEqualTo(Math.max(maxWeight, g.maxVertexWeight));
              assertThat(c.entries()).as("%s: coarse entries", name).isEqualTo(expected.size());
              int wrong = 0;
              for (int v = 0; v < c.n; v++) {
                for (int e = c.start[v]; e < c.start[v + 1]; e++) {
                  int sum = expected.getOrDefault((long) v << 32 | c.neighbor[e], -1);
                  wrong += c.edgeWeight[e] == sum ? 0 : 1;
                }
              }
              assertThat(wrong).as("%s: wrong edge weights", name).isZero();
              WeightedGraph[] again = new WeightedGraph[1];
              inPool(
                  3,
                  () ->
                      again[0] = Coarsening.of(g, maxWeight, 3, new CoarseningSpace(), 0).coarse());
              assertThat(Arrays.copyOf(again[0].neighbor, c.entries()))
                  .as(name)
                  .isEqualTo(Arrays.copyOf(c.neighbor, c.entries()));
            });
  }

  @Test
  void numberingDoesNotKeepALargeGridFromBeingMatched() {
    for (int seed = 1; seed <= 3; seed++) {
      WeightedGraph g = shuffled(grid(40, 30, 30), seed);
      assertThat(Coarsening.of(g, 4, seed, new CoarseningSpace(), 0).coarse().n)
          .as("seed %d", seed)
          .isLessThan(g.n * 58 / 100);
    }
  }

  @Test
  void partsOfAGraphStayWithinTheirRoom() {
    graphs()
        .forEach(
            (name, g) -> {
              int[] part = new Random(17).ints(g.n, -1, 4).toArray();
              int room = 7;
              int[] neighbor = new int[room + g.entries() + 5];
              int[] weight = new int[neighbor.length];
              Arrays.fill(neighbor, -1);
              Arrays.fill(weight, -1);
              WeightedGraph[] graphs = g.induced(part, 3, new int[g.n], neighbor, weight, room);
              WeightedGraph[] expected = g.induced(part, 3, new int[g.n]);
              int end = room;
              for (int k = 0; k < 3; k++) {
                WeightedGraph h = graphs[k];
                WeightedGraph same = expected[k];
                assertThat(h.start[0]).as("%s: start", name).isGreaterThanOrEqualTo(end);
                end = h.start[h.n];
                assertThat(Arrays.copyOfRange(h.neighbor, h.start[0], end))
                    .as("%s: part %d", name, k)
                    .isEqualTo(
                        Arrays.copyOfRange(same.neighbor, same.start[0], same.start[same.n]));
                assertThat(h.neighbor).isSameAs(neighbor);
                assertThat(h.edgeWeight).isSameAs(weight);
              }
              assertThat(end).as(name).isLessThanOrEqualTo(room + g.entries());
              for (int[] array : new int[][] {neighbor, weight}) {
                assertThat(Arrays.copyOf(array, room)).as("%s: before", name).containsOnly(-1);
                assertThat(Arrays.stream(array, end, array.length).allMatch(x -> x == -1))
                    .as("%s: nothing is written after the last part", name)
                    .isTrue();
              }
            });
  }

  @Test
  void partsAreInducedAsOneByOne() {
    graphs()
        .forEach(
            (name, g) -> {
              Random random = new Random(17);
              int[] part = random.ints(g.n, -1, 4).toArray();
              int[] local = new int[g.n];
              WeightedGraph[] graphs = g.induced(part, 3, local);
              int[] number = new int[g.n];
              int[] counted = new int[3];
              for (int v = 0; v < g.n; v++) {
                number[v] = part[v] >= 0 && part[v] < 3 ? counted[part[v]]++ : -1;
              }
              int wrong = 0;
              int[] entry = Arrays.stream(graphs).mapToInt(s -> s.start[0]).toArray();
              for (int v = 0; v < g.n; v++) {
                int p = part[v];
                if (p < 0 || p > 2) {
                  continue;
                }
                wrong += local[v] == number[v] ? 0 : 1;
                wrong += graphs[p].vertexWeight[local[v]] == g.vertexWeight[v] ? 0 : 1;
                for (int e = g.start[v]; e < g.start[v + 1]; e++) {
                  int u = g.neighbor[e];
                  if (part[u] == p) {
                    wrong += graphs[p].edgeWeight[entry[p]] == g.edgeWeight[e] ? 0 : 1;
                    wrong += graphs[p].neighbor[entry[p]++] == number[u] ? 0 : 1;
                  }
                }
                wrong += graphs[p].start[local[v] + 1] == entry[p] ? 0 : 1;
              }
              assertThat(wrong).as("%s: wrong numbers", name).isZero();
            });
  }

  @Test
  void aLoopCallsEachPieceOnceAndHandsOnWhatIsThrown() {
    AtomicIntegerArray calls = new AtomicIntegerArray(1000);
    inPool(4, () -> ParallelLoop.run(1000, calls::incrementAndGet));
    ParallelLoop.run(1000, calls::incrementAndGet);
    for (int i = 0; i < 1000; i++) {
      assertThat(calls.get(i)).isEqualTo(2);
    }
    assertThatThrownBy(
            () ->
                inPool(
                    4,
                    () ->
                        ParallelLoop.run(
                            100,
                            i -> {
                              if (i == 77) {
                                throw new IllegalStateException("piece " + i);
                              }
                            })))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("piece 77");
  }

  private static void inPool(int threads, Runnable work) {
    ForkJoinPool pool = new ForkJoinPool(threads);
    try {
      pool.submit(work).join();
    } finally {
      pool.shutdown();
    }
  }

  /** Large enough for several chunks and pieces, some of which are empty. */
  private static Map<String, WeightedGraph> graphs() {
    Map<String, WeightedGraph> graphs = new LinkedHashMap<>();
    graphs.put("nothing", graph(0, new int[0][]));
    graphs.put("no edge", graph(3, new int[0][]));
    graphs.put("cube", grid(32, 30, 28));
    graphs.put("square, shuffled", shuffled(grid(150, 140, 1), 2));
    graphs.put("random", random(20_000, 50_000, 3));
    graphs.put("random, connected", random(20_000, 200_000, 4));
    graphs.put("random, dense", random(3000, 60_000, 5));
    graphs.put("two cubes and a path", disconnected());
    graphs.put("star", star(25_000));
    graphs.put("chain of cliques", cliques(900, 24));
    return graphs;
  }

  private static WeightedGraph grid(int a, int b, int c) {
    int[][] edges = new int[3 * a * b * c][];
    int count = 0;
    for (int v = 0; v < a * b * c; v++) {
      if (v % a + 1 < a) {
        edges[count++] = new int[] {v, v + 1};
      }
      if (v / a % b + 1 < b) {
        edges[count++] = new int[] {v, v + a};
      }
      if (v / (a * b) + 1 < c) {
        edges[count++] = new int[] {v, v + a * b};
      }
    }
    return graph(a * b * c, Arrays.copyOf(edges, count));
  }

  private static WeightedGraph random(int n, int count, long seed) {
    Random random = new Random(seed);
    int[][] edges = new int[count][];
    for (int i = 0; i < count; i++) {
      int v = random.nextInt(n);
      edges[i] = new int[] {v, (v + 1 + random.nextInt(n - 1)) % n};
    }
    return graph(n, edges);
  }

  private static WeightedGraph disconnected() {
    WeightedGraph cube = grid(22, 22, 22);
    int n = cube.n;
    int[][] edges = new int[cube.entries() + 5000][];
    int count = 0;
    for (int v = 0; v < n; v++) {
      for (int e = cube.start[v]; e < cube.start[v + 1]; e++) {
        if (cube.neighbor[e] > v) {
          edges[count++] = new int[] {v, cube.neighbor[e]};
          edges[count++] = new int[] {n + v, n + cube.neighbor[e]};
        }
      }
    }
    for (int i = 0; i < 4999; i++) {
      edges[count++] = new int[] {2 * n + i, 2 * n + i + 1};
    }
    return graph(2 * n + 5000, Arrays.copyOf(edges, count));
  }

  private static WeightedGraph star(int n) {
    int[][] edges = new int[n - 1][];
    Arrays.setAll(edges, i -> new int[] {0, i + 1});
    return graph(n, edges);
  }

  private static WeightedGraph cliques(int cliques, int size) {
    int[][] edges = new int[cliques * (size * (size - 1) / 2 + 1)][];
    int count = 0;
    for (int c = 0; c < cliques; c++) {
      for (int i = 0; i < size; i++) {
        for (int j = 0; j < i; j++) {
          edges[count++] = new int[] {c * size + i, c * size + j};
        }
      }
      if (c > 0) {
        edges[count++] = new int[] {c * size, c * size - 1};
      }
    }
    return graph(cliques * size, Arrays.copyOf(edges, count));
  }

  private static WeightedGraph shuffled(WeightedGraph g, long seed) {
    int[] name = new int[g.n];
    new DissectionRandom(seed).permutation(name, 0, g.n);
    int[][] edges = new int[g.entries()][];
    int count = 0;
    for (int v = 0; v < g.n; v++) {
      for (int e = g.start[v]; e < g.start[v + 1]; e++) {
        if (g.neighbor[e] > v) {
          edges[count++] = new int[] {name[v], name[g.neighbor[e]]};
        }
      }
    }
    return graph(g.n, Arrays.copyOf(edges, count));
  }

  /** Edges given in one direction; duplicates are dropped, loops are not allowed, weights are 1. */
  private static WeightedGraph graph(int n, int[][] edges) {
    long[] keys = new long[2 * edges.length];
    for (int i = 0; i < edges.length; i++) {
      keys[2 * i] = (long) edges[i][0] << 32 | edges[i][1];
      keys[2 * i + 1] = (long) edges[i][1] << 32 | edges[i][0];
    }
    keys = Arrays.stream(keys).sorted().distinct().toArray();
    int[] start = new int[n + 1];
    int[] neighbor = new int[keys.length];
    for (int k = 0; k < keys.length; k++) {
      start[(int) (keys[k] >>> 32) + 1]++;
      neighbor[k] = (int) keys[k];
    }
    for (int v = 0; v < n; v++) {
      start[v + 1] += start[v];
    }
    int[] ones = new int[Math.max(n, keys.length)];
    Arrays.fill(ones, 1);
    return new WeightedGraph(n, start, neighbor, ones, ones);
  }
}
