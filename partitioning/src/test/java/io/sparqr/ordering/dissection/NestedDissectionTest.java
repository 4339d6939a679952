/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering.dissection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import edu.ufl.cise.amd.tdouble.Damd_defaults;
import edu.ufl.cise.amd.tdouble.Damd_order;
import io.sparqr.Sampling;
import io.sparqr.ordering.FillCounter;
import io.sparqr.ordering.RandomPatterns;
import io.sparqr.ordering.graph.ColumnGraph;
import io.sparqr.ordering.graph.WeightedGraph;
import io.sparqr.sparse.Permutation;
import io.sparqr.sparse.SparsityPattern;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;

class NestedDissectionTest {

  @Test
  void ordersEmptyAndTinyPatterns() {
    assertThat(new NestedDissection().order(pattern(0, List.of())).size()).isZero();
    assertThat(new NestedDissection().order(pattern(1, List.of())).toArray()).containsExactly(0);
    assertThat(new NestedDissection().order(pattern(3, List.of(new int[0]))).size()).isEqualTo(3);
    assertThat(new NestedDissection().order(pattern(2, List.of(new int[] {0, 1}))).size())
        .isEqualTo(2);
  }

  @Test
  void refusesToRunOnNoThread() {
    assertThatThrownBy(() -> new NestedDissection(0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("threads 0");
  }

  @Test
  void ordersAnyPatternWhateverTheThreads() {
    for (int seed = 1; seed <= 40; seed++) {
      SparsityPattern a = random(seed);
      Permutation one = new NestedDissection(1, 20).order(a);
      Permutation three = new NestedDissection(3, 20).order(a);
      assertThat(one.size()).as("seed %d", seed).isEqualTo(a.columns());
      assertThat(three.toArray()).as("seed %d", seed).isEqualTo(one.toArray());
    }
  }

  @Test
  void theOrderOfTheRowsDoesNotMatter() {
    for (int seed = 1; seed <= 10; seed++) {
      for (SparsityPattern a : List.of(random(seed), RandomPatterns.of("gen:ch5-5-b3"))) {
        assertThat(new NestedDissection().order(RandomPatterns.shuffleRows(a, seed)).toArray())
            .as("seed %d", seed)
            .isEqualTo(new NestedDissection().order(a).toArray());
      }
    }
  }

  @Test
  void largeSubgraphsOnSeveralThreadsGiveTheSameOrder() {
    SparsityPattern a = cells(130);
    int[] one = new NestedDissection(1).order(a).toArray();
    for (int threads = 2; threads <= 4; threads++) {
      assertThat(new NestedDissection(threads).order(a).toArray())
          .as("%d threads", threads)
          .isEqualTo(one);
    }
  }

  @Test
  void denseRowsDoNotTieColumnsTogetherAndDenseColumnsComeLast() {
    int k = 60;
    int n = k * k + 1;
    List<int[]> rows = new ArrayList<>(cellRows(k));
    Random random = new Random(5);
    for (int r = 0; r < k * k; r += 2) {
      rows.add(new int[] {r, n - 1});
    }
    int[] dense = random.ints(0, n - 1).distinct().limit(n / 2).sorted().toArray();
    int[] without = new NestedDissection().order(pattern(n, rows)).toArray();
    rows.add(dense);
    int[] with = new NestedDissection().order(pattern(n, rows)).toArray();
    assertThat(with).isEqualTo(without);
    assertThat(with[n - 1]).isEqualTo(n - 1);
  }

  @Test
  void columnsWithoutNeighboursComeFirst() {
    List<int[]> rows = new ArrayList<>();
    rows.add(new int[] {1});
    for (int j = 2; j < 9; j++) {
      rows.add(new int[] {j, j + 1});
    }
    int[] order = new NestedDissection().order(pattern(10, rows)).toArray();
    assertThat(Arrays.copyOf(order, 2)).containsExactly(0, 1);
  }

  @Test
  void rowsOverTheCapStillHoldTheirColumnsTogether() {
    // sixty rows of 60 columns in two groups that share nothing: two components, both found
    Random random = new Random(11);
    List<int[]> rows = new ArrayList<>();
    for (int r = 0; r < 60; r++) {
      int base = (r % 2) * 500;
      rows.add(random.ints(base, base + 500).distinct().limit(60).sorted().toArray());
    }
    SparsityPattern a = pattern(1000, rows);
    WeightedGraph full = ColumnGraph.of(a, Long.MAX_VALUE);
    WeightedGraph sparse = ColumnGraph.of(a, 1000);
    assertThat(sparse.entries()).isLessThan(full.entries() / 3);
    int[] scratch = new int[1000];
    int[] component = new int[1000];
    int expected = full.components(component, scratch);
    assertThat(sparse.components(component, scratch)).isEqualTo(expected);
  }

  @Test
  void aPathOfVeryManyVerticesNeedsNoDeepStack() {
    // a stack of the usual size overflows at some ten thousand calls
    int n = Sampling.count(1_000_000);
    List<int[]> rows = new ArrayList<>(n);
    for (int j = 0; j + 1 < n; j++) {
      rows.add(new int[] {j, j + 1});
    }
    SparsityPattern a = pattern(n, rows);
    Permutation order =
        Assertions.assertTimeoutPreemptively(
            Duration.ofSeconds(60), () -> new NestedDissection(2).order(a));
    assertThat(treeHeightOfPath(order.inverseArray())).isLessThan(300);
  }

  @Test
  void aStarIsOrderedLeavesFirst() {
    int n = 5000;
    List<int[]> rows = new ArrayList<>();
    for (int j = 1; j < n; j++) {
      rows.add(new int[] {0, j});
    }
    Permutation order = new NestedDissection().order(pattern(n, rows));
    assertThat(order.position(0)).isEqualTo(n - 1);
  }

  @Test
  void indistinguishableColumnsStayTogether() {
    List<int[]> rows = new ArrayList<>();
    for (int[] cell : cellRows(20)) {
      int[] row = new int[3 * cell.length];
      for (int i = 0; i < row.length; i++) {
        row[i] = 3 * cell[i / 3] + i % 3;
      }
      rows.add(row);
    }
    int[] order = new NestedDissection(1, 30).order(pattern(1200, rows)).toArray();
    for (int k = 0; k < order.length; k += 3) {
      assertThat(order[k] / 3).isEqualTo(order[k + 1] / 3).isEqualTo(order[k + 2] / 3);
    }
  }

  @Test
  void flopsOnAGridAreNearTheKnownBound() {
    // George (1973): 829/84 k^3 multiplications on a nine-point grid; a sum of squares is twice
    // that
    for (int k : new int[] {40, 70, 100}) {
      FillCounter.Graph g = FillCounter.Graph.grid(k);
      int[] order = new NestedDissection().order(cells(k)).toArray();
      assertThat(FillCounter.cholesky(g.n(), g.ptr(), g.adj(), order))
          .as("flops, k = %d", k)
          .isLessThan(1.25 * 2 * 829 / 84 * k * k * k);
    }
  }

  @Test
  void beatsMinimumDegreeOnGrids() {
    for (int k : new int[] {100, 140}) {
      FillCounter.Graph g = FillCounter.Graph.grid(k);
      int[] theirs = new int[g.n()];
      double[] control = new double[5];
      Damd_defaults.amd_defaults(control);
      Damd_order.amd_order(g.n(), g.ptr(), g.adj(), theirs, control, new double[20]);
      int[] ours = new NestedDissection().order(cells(k)).toArray();
      assertThat(FillCounter.cholesky(g.n(), g.ptr(), g.adj(), ours))
          .as("flops, k = %d", k)
          .isLessThan(0.95 * FillCounter.cholesky(g.n(), g.ptr(), g.adj(), theirs));
    }
  }

  /**
   * Height of the elimination tree of a path: its nodes' parents are the earlier eliminated of the
   * nearest later ones to the left and right.
   */
  private static int treeHeightOfPath(int[] position) {
    int n = position.length;
    int[] parent = new int[n];
    Arrays.fill(parent, Integer.MAX_VALUE);
    int[] stack = new int[n];
    int top = 0;
    for (int j = 0; j < n; j++) {
      while (top > 0 && position[stack[top - 1]] < position[j]) {
        int below = stack[--top];
        parent[position[below]] = Math.min(parent[position[below]], position[j]);
      }
      if (top > 0) {
        parent[position[j]] = Math.min(parent[position[j]], position[stack[top - 1]]);
      }
      stack[top++] = j;
    }
    int[] depth = new int[n];
    int height = 0;
    for (int k = n - 1; k >= 0; k--) {
      depth[k] = parent[k] == Integer.MAX_VALUE ? 1 : depth[parent[k]] + 1;
      height = Math.max(height, depth[k]);
    }
    return height;
  }

  /** Cells of a k x k grid of nodes, each a row on its four nodes. */
  private static List<int[]> cellRows(int k) {
    List<int[]> rows = new ArrayList<>();
    for (int y = 0; y + 1 < k; y++) {
      for (int x = 0; x + 1 < k; x++) {
        int at = y * k + x;
        rows.add(new int[] {at, at + 1, at + k, at + k + 1});
      }
    }
    return rows;
  }

  private static SparsityPattern cells(int k) {
    return pattern(k * k, cellRows(k));
  }

  /** Mixed: empty rows and columns, disconnected blocks, dense rows, power-law columns. */
  private static SparsityPattern random(long seed) {
    Random random = new Random(seed);
    int n = 1 + random.nextInt(900);
    int blocks = 1 + random.nextInt(4);
    int m = random.nextInt(4 * n);
    boolean skewed = random.nextBoolean();
    List<int[]> rows = new ArrayList<>();
    for (int i = 0; i < m; i++) {
      int length = random.nextInt(50) == 0 ? random.nextInt(n) : random.nextInt(5);
      int block = random.nextInt(blocks);
      int from = (int) ((long) n * block / blocks);
      int size = Math.max(1, n / blocks - 1);
      TreeSet<Integer> row = new TreeSet<>();
      for (int t = 0; t < length; t++) {
        double u = random.nextDouble();
        row.add(Math.min(n - 1, from + (int) (size * (skewed ? u * u * u : u))));
      }
      rows.add(row.stream().mapToInt(Integer::intValue).toArray());
    }
    return pattern(n, rows);
  }

  private static SparsityPattern pattern(int n, List<int[]> rows) {
    long[] start = new long[rows.size() + 1];
    for (int i = 0; i < rows.size(); i++) {
      start[i + 1] = start[i] + rows.get(i).length;
    }
    int[] index = new int[(int) start[rows.size()]];
    for (int i = 0; i < rows.size(); i++) {
      System.arraycopy(rows.get(i), 0, index, (int) start[i], rows.get(i).length);
    }
    long[] once = new long[rows.size()];
    Arrays.fill(once, 1);
    return new SparsityPattern(n, start, index, once).validate();
  }
}
