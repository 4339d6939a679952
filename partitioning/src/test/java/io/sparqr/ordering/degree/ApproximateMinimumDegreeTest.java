/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering.degree;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import edu.ufl.cise.amd.tdouble.Damd_defaults;
import edu.ufl.cise.amd.tdouble.Damd_order;
import io.sparqr.Sampling;
import io.sparqr.error.IndexOverflowException;
import io.sparqr.ordering.FillCounter;
import io.sparqr.ordering.RandomPatterns;
import io.sparqr.sparse.Permutation;
import io.sparqr.sparse.SparsityPattern;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ApproximateMinimumDegreeTest {

  @Test
  void ordersEmptyAndSingleVertexGraphs() {
    assertThat(ApproximateMinimumDegree.order(0, new int[1], new int[0], null)).isEmpty();
    assertThat(ApproximateMinimumDegree.order(1, new int[2], new int[0], null)).containsExactly(0);
  }

  @Test
  void ordersAPathWithoutFill() {
    int n = 1000;
    int[] ptr = new int[n + 1];
    int[] adj = new int[2 * (n - 1)];
    int k = 0;
    for (int i = 0; i < n; i++) {
      if (i > 0) {
        adj[k++] = i - 1;
      }
      if (i < n - 1) {
        adj[k++] = i + 1;
      }
      ptr[i + 1] = k;
    }
    int[] order = ApproximateMinimumDegree.order(n, ptr, adj, null);
    // n - 1 columns of two entries and the last of one
    assertThat(FillCounter.cholesky(n, ptr, adj, order)).isEqualTo(4.0 * (n - 1) + 1);
  }

  @Test
  void theGraphIsTheSameInHoweverManyPiecesItIsWritten() {
    for (SparsityPattern a : RandomPatterns.structuredAndRandom()) {
      RowCliques one = RowCliques.of(a).inPiecesOf(Integer.MAX_VALUE);
      int[] order = one.order(1000, false).toArray();
      for (int entries : new int[] {1, 7, 100}) {
        RowCliques some = RowCliques.of(a).inPiecesOf(entries);
        assertThat(some.order(1000, false).toArray()).isEqualTo(order);
        assertThat(some.adjacencies()).isEqualTo(one.adjacencies());
      }
    }
  }

  @Test
  void flopsWithinTenPercentOfTheOracleOnGridsAndRandomGraphs() {
    for (int seed = 1; seed <= 12; seed++) {
      FillCounter.Graph g =
          seed <= 4
              ? FillCounter.Graph.grid(10 * seed)
              : FillCounter.Graph.random(600, (seed - 3) * 600, seed);
      int[] ours = ApproximateMinimumDegree.order(g.n(), g.ptr(), g.adj(), null);
      int[] theirs = oracle(g);
      new Permutation(ours);
      assertThat(FillCounter.cholesky(g.n(), g.ptr(), g.adj(), ours))
          .as("flops, seed %d", seed)
          .isLessThanOrEqualTo(1.1 * FillCounter.cholesky(g.n(), g.ptr(), g.adj(), theirs));
    }
  }

  @Test
  void flopsOnTheGraphOfAtAWithinTenPercentOfTheOracle() {
    List<SparsityPattern> problems = RandomPatterns.structuredAndRandom();
    for (int k = 0; k < problems.size(); k++) {
      SparsityPattern a = problems.get(k);
      FillCounter.Graph g = FillCounter.Graph.of(a);
      int[] ours = new ApproximateMinimumDegree().order(a).toArray();
      assertThat(FillCounter.cholesky(g.n(), g.ptr(), g.adj(), ours))
          .as("flops, problem %d", k)
          .isLessThanOrEqualTo(1.1 * FillCounter.cholesky(g.n(), g.ptr(), g.adj(), oracle(g)));
    }
  }

  /** Most pivots of these have one element, of hundreds of columns. */
  @Test
  void elementsThatGrowCostLittleFill() {
    for (String problem :
        Sampling.WHOLE
            ? List.of("gen:nug8", "gen:nug10", "gen:nug12")
            : List.of("gen:nug8", "gen:nug10")) {
      SparsityPattern a = RandomPatterns.of(problem);
      FillCounter.Graph g = FillCounter.Graph.of(a);
      int[] ours = new ApproximateMinimumDegree().order(a).toArray();
      assertThat(FillCounter.cholesky(g.n(), g.ptr(), g.adj(), ours))
          .as("flops, %s", problem)
          .isLessThanOrEqualTo(1.05 * FillCounter.cholesky(g.n(), g.ptr(), g.adj(), oracle(g)));
    }
  }

  @Test
  void aCompactedStorageHoldsTheSameLists() {
    Random random = new Random(5);
    for (int t = 0; t < 100; t++) {
      int nodes = 1 + random.nextInt(20);
      int[] start = new int[nodes];
      int[] length = new int[nodes];
      int[] lists = new int[nodes * 8];
      int free = 0;
      int[][] wanted = new int[nodes][];
      for (int k = 0; k < nodes; k++) {
        start[k] = free;
        int room = random.nextInt(8);
        length[k] = random.nextInt(room + 1);
        for (int p = 0; p < room; p++) {
          lists[free++] = random.nextInt(100);
        }
        wanted[k] = Arrays.copyOfRange(lists, start[k], start[k] + length[k]);
      }
      int end = ListStorage.compact(lists, free, start, length);
      assertThat(end).isEqualTo(Arrays.stream(length).sum());
      for (int k = 0; k < nodes; k++) {
        if (length[k] > 0) {
          assertThat(Arrays.copyOfRange(lists, start[k], start[k] + length[k]))
              .isEqualTo(wanted[k]);
        }
      }
    }
  }

  @Test
  void longRowsAsElementsCostLittleFill() {
    double logSum = 0;
    List<SparsityPattern> problems = RandomPatterns.structuredAndRandom();
    for (SparsityPattern a : problems) {
      FillCounter.Graph g = FillCounter.Graph.of(a);
      RowCliques rows = RowCliques.of(a);
      int[] edgesOnly = new ApproximateMinimumDegree().order(a).toArray();
      double reference = FillCounter.cholesky(g.n(), g.ptr(), g.adj(), edgesOnly);
      for (int limit = 1; limit <= 4; limit++) {
        int[] mixed = rows.order(limit, false).toArray();
        logSum += Math.log(FillCounter.cholesky(g.n(), g.ptr(), g.adj(), mixed) / reference);
      }
    }
    assertThat(Math.exp(logSum / (4 * problems.size()))).isLessThanOrEqualTo(1.1);
  }

  private static int[] oracle(FillCounter.Graph g) {
    int[] order = new int[g.n()];
    double[] control = new double[5];
    Damd_defaults.amd_defaults(control);
    Damd_order.amd_order(g.n(), g.ptr(), g.adj(), order, control, new double[20]);
    return order;
  }

  @Test
  void weightedVerticesStandForIndistinguishableColumns() {
    for (int seed = 1; seed <= 20; seed++) {
      FillCounter.Graph g = FillCounter.Graph.random(200, 500, seed);
      Random random = new Random(seed);
      int[] weight = new int[g.n()];
      Arrays.setAll(weight, i -> 1 + random.nextInt(3));
      int[] order = ApproximateMinimumDegree.order(g.n(), g.ptr(), g.adj(), weight);
      new Permutation(order);
      FillCounter.Graph expanded = g.expand(weight);
      int[] direct =
          ApproximateMinimumDegree.order(expanded.n(), expanded.ptr(), expanded.adj(), null);
      int[] spread = FillCounter.spread(order, weight);
      assertThat(FillCounter.cholesky(expanded.n(), expanded.ptr(), expanded.adj(), spread))
          .as("flops, seed %d", seed)
          .isLessThanOrEqualTo(
              1.25 * FillCounter.cholesky(expanded.n(), expanded.ptr(), expanded.adj(), direct));
    }
  }

  @Test
  void listsBeyondWhatAnArrayCanIndexAreAnErrorThatSaysSo() {
    assertThat(RowCliques.checkedSize(Integer.MAX_VALUE - 8L)).isEqualTo(Integer.MAX_VALUE - 8);
    assertThatThrownBy(() -> RowCliques.checkedSize(3_000_000_000L))
        .isInstanceOf(IndexOverflowException.class)
        .hasMessageContaining("lists of 3000000000 entries");
  }

  @Test
  void theSameGraphGivesTheSameOrder() {
    FillCounter.Graph g = FillCounter.Graph.random(500, 2000, 7);
    assertThat(ApproximateMinimumDegree.order(g.n(), g.ptr(), g.adj(), null))
        .isEqualTo(ApproximateMinimumDegree.order(g.n(), g.ptr(), g.adj(), null));
  }
}
