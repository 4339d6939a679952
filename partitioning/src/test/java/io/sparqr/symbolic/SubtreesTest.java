/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.sparse.Permutation;
import io.sparqr.sparse.SparsityPattern;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import java.util.concurrent.ForkJoinPool;
import org.junit.jupiter.api.Test;

/** Work shared out by subtrees, however small they are. */
class SubtreesTest {

  private static final long SEED = Long.getLong("test.seed", 20261125);
  private static final long[] LEAST = {1, 2, 5, 20, 100, Integer.MAX_VALUE};

  private static List<SparsityPattern> patterns() {
    Random random = new Random(SEED);
    List<SparsityPattern> list = new ArrayList<>();
    list.add(Patterns.tridiagonal(40));
    list.add(Patterns.arrow(40));
    list.add(Patterns.grid(7));
    for (int k = 0; k < 60; k++) {
      int n = 1 + random.nextInt(60);
      list.add(Patterns.random(random, 1 + random.nextInt(80), n, 1 + random.nextInt(5)));
    }
    // many rows for few columns: edges by a table of bits
    for (int k = 0; k < 10; k++) {
      list.add(Patterns.random(random, 1500, 1 + random.nextInt(90), 4));
    }
    return list;
  }

  private static Permutation shuffled(int n, Random random) {
    int[] order = new int[n];
    for (int k = 0; k < n; k++) {
      int at = random.nextInt(k + 1);
      order[k] = order[at];
      order[at] = k;
    }
    return new Permutation(order);
  }

  @Test
  void starsHaveTheEdgesOfTheirRows() {
    Random random = new Random(SEED);
    int byBits = 0;
    for (SparsityPattern a : patterns()) {
      Permutation order = shuffled(a.columns(), random);
      for (int threads : new int[] {1, 8}) {
        ForkJoinPool pool = new ForkJoinPool(threads);
        StarGraph graph = pool.submit(() -> new StarGraph(a, order)).join();
        pool.shutdown();
        List<TreeSet<Integer>> high = new ArrayList<>();
        List<TreeSet<Integer>> low = new ArrayList<>();
        long[] count = new long[a.columns()];
        for (int j = 0; j < a.columns(); j++) {
          high.add(new TreeSet<>());
          low.add(new TreeSet<>());
        }
        for (int r = 0; r < a.patterns(); r++) {
          List<Integer> row = StructureOracle.row(a, r, order.inverseArray());
          for (int c : row.subList(Math.min(1, row.size()), row.size())) {
            high.get(row.get(0)).add(c);
            low.get(c).add(row.get(0));
          }
          if (!row.isEmpty()) {
            count[row.get(0)] += a.multiplicity()[r];
          }
        }
        assertThat(graph.leftmostCount).as("seed %d", SEED).isEqualTo(count);
        for (int j = 0; j < a.columns(); j++) {
          int[] up = Arrays.copyOfRange(graph.high, graph.highStart[j], graph.highStart[j + 1]);
          int[] down = Arrays.copyOfRange(graph.low, graph.lowStart[j], graph.lowStart[j + 1]);
          assertThat(up).containsExactlyInAnyOrder(ints(high.get(j)));
          assertThat(down).as("ascending").containsExactly(ints(low.get(j)));
        }
      }
      byBits += EdgeBits.fit(a) ? 1 : 0;
    }
    assertThat(byBits).isGreaterThanOrEqualTo(10);
  }

  private static int[] ints(TreeSet<Integer> set) {
    return set.stream().mapToInt(Integer::intValue).toArray();
  }

  @Test
  void countsAreThoseOfTheEliminationWhateverTheSubtrees() {
    Random random = new Random(SEED);
    for (SparsityPattern a : patterns()) {
      Permutation order = shuffled(a.columns(), random);
      StarGraph graph = new StarGraph(a, order);
      ColumnEliminationTree tree = new ColumnEliminationTree(graph);
      StructureOracle oracle = StructureOracle.of(a, order.inverseArray(), 0);
      int[] wanted = new int[a.columns()];
      for (int j = 0; j < wanted.length; j++) {
        wanted[tree.post[j]] = 1 + oracle.beyond(j).size();
      }
      for (long least : LEAST) {
        assertThat(ColumnCounts.of(graph, tree, least))
            .as("subtrees of %d, seed %d", least, SEED)
            .isEqualTo(wanted);
      }
    }
  }

  @Test
  void countsOfALargeTreeAreTheSameWhateverTheSubtrees() {
    SparsityPattern a = Gallery.generate("cells3d16").pattern();
    StarGraph graph = new StarGraph(a, shuffled(a.columns(), new Random(SEED)));
    ColumnEliminationTree tree = new ColumnEliminationTree(graph);
    int[] whole = ColumnCounts.of(graph, tree, Integer.MAX_VALUE);
    for (long least : LEAST) {
      assertThat(ColumnCounts.of(graph, tree, least)).isEqualTo(whole);
    }
  }

  @Test
  void tailsAreTheSameWhateverTheSubtrees() {
    Random random = new Random(SEED);
    List<SparsityPattern> list = patterns();
    list.add(Gallery.generate("grad3d12").pattern());
    for (SparsityPattern a : list) {
      Permutation order = shuffled(a.columns(), random);
      AnalysisPlan plan = new AnalysisPlan(a, order, SymbolicOptions.defaults(), new PhaseTimes());
      StarGraph graph = new StarGraph(a, order);
      int[] frontOfLabel = new int[graph.n];
      int[] labelOfPlace = new int[graph.n];
      for (int j = 0; j < graph.n; j++) {
        labelOfPlace[plan.fronts.place[plan.tree.post[j]]] = j;
        frontOfLabel[j] = plan.fronts.frontOfPlace[plan.fronts.place[plan.tree.post[j]]];
      }
      int[] start = plan.structure.tailStart;
      int[] work = new int[start.length];
      for (int f = 0; f < work.length; f++) {
        work[f] = start[f] + plan.fronts.pivotStart[f];
      }
      for (long least : LEAST) {
        Subtrees subtrees = new Subtrees(plan.fronts.parent, work, least);
        for (int pieces : new int[] {0, 1, 2, 7, 100}) {
          int[] tails = new int[plan.structure.tailColumns.length];
          new Walk(graph, plan.fronts, subtrees, frontOfLabel, labelOfPlace, start, tails)
              .run(pieces);
          assertThat(tails)
              .as("subtrees of %d, top in %d pieces, seed %d", least, pieces, SEED)
              .isEqualTo(plan.structure.tailColumns);
        }
      }
    }
  }

  @Test
  void rangesAreWholeSubtreesOfLimitedWork() {
    Random random = new Random(SEED);
    for (int t = 0; t < 200; t++) {
      int n = 1 + random.nextInt(50);
      int[] parent = postorderedForest(n, random);
      int[] before = new int[n + 1];
      for (int k = 0; k < n; k++) {
        before[k + 1] = before[k] + 1 + random.nextInt(4);
      }
      long least = 1 + random.nextInt(30);
      Subtrees s = new Subtrees(parent, before, least);
      long limit = Math.max(least, before[n] / 64);
      for (int r = 0; r < s.count; r++) {
        assertThat((long) before[s.end[r]] - before[s.first[r]]).isLessThanOrEqualTo(limit);
      }
      for (int k = 0; k < n; k++) {
        int range = s.rangeOf[k];
        if (range >= 0) {
          assertThat(k).isGreaterThanOrEqualTo(s.first[range]).isLessThan(s.end[range]);
        }
        if (parent[k] >= 0 && range < 0) {
          assertThat(s.rangeOf[parent[k]]).as("the parent of a node of the top").isEqualTo(-1);
        } else if (parent[k] >= 0) {
          assertThat(s.rangeOf[parent[k]]).isIn(range, -1);
        }
      }
    }
  }

  /** Random parents of a postorder: a node takes some of the last roots before it as children. */
  private static int[] postorderedForest(int n, Random random) {
    int[] parent = new int[n];
    List<Integer> roots = new ArrayList<>();
    for (int k = 0; k < n; k++) {
      parent[k] = -1;
      int children = Math.min(roots.size(), random.nextInt(4));
      for (int c = 0; c < children; c++) {
        parent[roots.remove(roots.size() - 1)] = k;
      }
      roots.add(k);
    }
    return parent;
  }
}
