/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering.graph;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.ordering.RandomPatterns;
import io.sparqr.ordering.dissection.NestedDissection;
import io.sparqr.sparse.SparsityPattern;
import io.sparqr.threads.ParallelLoop;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ForkJoinPool;
import org.junit.jupiter.api.Test;

class GraphCompressionTest {

  /** The groups by comparing whole neighbourhoods, in order of their first vertices. */
  private static List<List<Integer>> expected(WeightedGraph g) {
    Map<List<Integer>, List<Integer>> groups = new LinkedHashMap<>();
    for (int v = 0; v < g.n; v++) {
      List<Integer> closed = new ArrayList<>(List.of(v));
      for (int e = g.start[v]; e < g.start[v + 1]; e++) {
        closed.add(g.neighbor[e]);
      }
      closed.sort(null);
      groups.computeIfAbsent(closed, k -> new ArrayList<>()).add(v);
    }
    return List.copyOf(groups.values());
  }

  private static List<List<Integer>> groups(GraphCompression compression) {
    List<List<Integer>> groups = new ArrayList<>();
    int[] member = new int[1 << 16];
    for (int c = 0; c < compression.compressed().n; c++) {
      int end = compression.copyGroup(c, member, 0);
      groups.add(Arrays.stream(member, 0, end).boxed().toList());
    }
    return groups;
  }

  private static void check(SparsityPattern pattern, boolean merges) {
    WeightedGraph graph = NestedDissection.graph(pattern);
    List<List<Integer>> expected = expected(graph);
    assertThat(expected.size() < graph.n).isEqualTo(merges);
    for (int threads : new int[] {1, 4}) {
      ForkJoinPool pool = new ForkJoinPool(threads);
      try {
        GraphCompression compression = pool.submit(() -> GraphCompression.of(graph)).join();
        assertThat(groups(compression)).isEqualTo(expected);
        assertThat(compression.compressed().totalWeight).isEqualTo(graph.n);
      } finally {
        pool.shutdown();
      }
    }
  }

  @Test
  void verticesWithTheSameNeighboursAreOneGroup() {
    Random random = new Random(11);
    // rows of one to four blocks of one to five equal columns
    int blocks = 8000;
    int[] first = new int[blocks + 1];
    for (int b = 0; b < blocks; b++) {
      first[b + 1] = first[b] + 1 + random.nextInt(5);
    }
    long[] start = new long[blocks + 1];
    List<Integer> index = new ArrayList<>();
    for (int r = 0; r < blocks; r++) {
      random
          .ints(1 + random.nextInt(4), 0, blocks)
          .distinct()
          .sorted()
          .forEach(
              b -> {
                for (int j = first[b]; j < first[b + 1]; j++) {
                  index.add(j);
                }
              });
      start[r + 1] = index.size();
    }
    long[] once = new long[blocks];
    Arrays.fill(once, 1);
    int[] columns = index.stream().mapToInt(j -> j).toArray();
    check(new SparsityPattern(first[blocks], start, columns, once), true);
  }

  @Test
  void aGridStaysAsItIs() {
    SparsityPattern grid = RandomPatterns.of("gen:grad3d24");
    WeightedGraph graph = NestedDissection.graph(grid);
    assertThat(GraphCompression.of(graph).compressed()).isSameAs(graph);
    check(grid, false);
  }

  @Test
  void whatIsAddedTwiceMayRepeatAndLittleElse() {
    int values = 100_000;
    Random random = new Random(12);
    long[] hash = random.longs(values).toArray();
    RepeatedHashes hashes = new RepeatedHashes(values + 100);
    ForkJoinPool pool = new ForkJoinPool(4);
    try {
      pool.submit(
              () ->
                  ParallelLoop.run(
                      values + 100, k -> hashes.add(hash[k < values ? k : k - values])))
          .join();
    } finally {
      pool.shutdown();
    }
    for (int k = 0; k < 100; k++) {
      assertThat(hashes.mayRepeat(hash[k])).isTrue();
    }
    long suspected = Arrays.stream(hash).filter(hashes::mayRepeat).count();
    assertThat(suspected).isLessThan(values / 8);
  }
}
