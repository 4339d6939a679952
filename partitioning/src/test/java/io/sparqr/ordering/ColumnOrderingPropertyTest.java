/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.ordering.degree.ApproximateMinimumDegree;
import io.sparqr.ordering.degree.Colamd;
import io.sparqr.ordering.dissection.NestedDissection;
import io.sparqr.sparse.Permutation;
import io.sparqr.sparse.SparsityPattern;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Properties of every column ordering, over seeded random patterns with all special cases. */
class ColumnOrderingPropertyTest {

  static List<ColumnOrdering> orderings() {
    return List.of(
        new Colamd(), new ApproximateMinimumDegree(), new NestedDissection(), new Natural());
  }

  static List<ColumnOrdering> minimumDegree() {
    return List.of(new Colamd(), new ApproximateMinimumDegree());
  }

  @ParameterizedTest
  @MethodSource("orderings")
  void givesAPermutationOfAnyPattern(ColumnOrdering ordering) {
    for (int seed = 1; seed <= 300; seed++) {
      SparsityPattern a = RandomPatterns.anything(seed);
      Permutation p = ordering.order(a);
      assertThat(p.size())
          .as("%s, seed %d", ordering.getClass().getSimpleName(), seed)
          .isEqualTo(a.columns());
    }
  }

  @ParameterizedTest
  @MethodSource("orderings")
  void isDeterministicAndLeavesThePatternAlone(ColumnOrdering ordering) {
    for (int seed = 1; seed <= 30; seed++) {
      SparsityPattern a = RandomPatterns.anything(seed);
      int[] before = a.columnIndex().clone();
      int[] first = ordering.order(a).toArray();
      int[] second = ordering.order(a).toArray();
      assertThat(second)
          .as("%s, seed %d", ordering.getClass().getSimpleName(), seed)
          .isEqualTo(first);
      assertThat(a.columnIndex()).isEqualTo(before);
    }
  }

  @ParameterizedTest
  @MethodSource("minimumDegree")
  void dependsOnTheRowsAndNotOnTheirOrder(ColumnOrdering ordering) {
    for (int seed = 1; seed <= 100; seed++) {
      SparsityPattern a = RandomPatterns.anything(seed);
      assertThat(ordering.order(RandomPatterns.shuffleRows(a, seed)).toArray())
          .as("%s, seed %d", ordering.getClass().getSimpleName(), seed)
          .isEqualTo(ordering.order(a).toArray());
    }
  }

  @ParameterizedTest
  @MethodSource("orderings")
  void takesNoColumnsAndOneColumn(ColumnOrdering ordering) {
    assertThat(ordering.order(RandomPatterns.of(0, List.of())).size()).isZero();
    assertThat(ordering.order(RandomPatterns.of(1, List.of())).toArray()).containsExactly(0);
    assertThat(ordering.order(RandomPatterns.of(1, List.of(new int[] {0}))).toArray())
        .containsExactly(0);
    assertThat(ordering.order(RandomPatterns.of(0, List.of(new int[0]))).size()).isZero();
  }

  @ParameterizedTest
  @MethodSource("minimumDegree")
  void findsTheOrderWithoutFillOfAnArrow(ColumnOrdering ordering) {
    int n = 400;
    List<int[]> rows = new ArrayList<>();
    for (int j = 1; j < n; j++) {
      rows.add(new int[] {0, j});
    }
    SparsityPattern a = RandomPatterns.of(n, rows);
    FillCounter.Graph g = FillCounter.Graph.of(a);
    double flops = FillCounter.cholesky(n, g.ptr(), g.adj(), ordering.order(a).toArray());
    assertThat(flops).isCloseTo(4.0 * (n - 1) + 1, within(0.0));
  }

  @ParameterizedTest
  @MethodSource("minimumDegree")
  void denseColumnsGoLastAndEmptyColumnsAfterThem(ColumnOrdering ordering) {
    int n = 900;
    int dense = 17;
    int empty = 400;
    List<int[]> rows = new ArrayList<>();
    for (int j = 0; j + 1 < n; j++) {
      if (j != empty && j + 1 != empty && j != dense && j + 1 != dense) {
        rows.add(dense < j ? new int[] {dense, j, j + 1} : new int[] {j, j + 1, dense});
      }
    }
    int[] order = ordering.order(RandomPatterns.of(n, rows)).toArray();
    assertThat(order[n - 2]).isEqualTo(dense);
    assertThat(order[n - 1]).isEqualTo(empty);
  }

  @ParameterizedTest
  @MethodSource("minimumDegree")
  void aDenseRowDoesNotSpoilTheOrderOfTheRest(ColumnOrdering ordering) {
    int n = 1000;
    List<int[]> rows = new ArrayList<>();
    for (int j = 0; j + 1 < n; j++) {
      rows.add(new int[] {j, j + 1});
    }
    SparsityPattern path = RandomPatterns.of(n, rows);
    int[] all = new int[n];
    Arrays.setAll(all, j -> j);
    rows.add(all);
    SparsityPattern withDenseRow = RandomPatterns.of(n, rows);
    assertThat(ordering.order(withDenseRow).toArray()).isEqualTo(ordering.order(path).toArray());
  }

  @ParameterizedTest
  @MethodSource("minimumDegree")
  void duplicateColumnsStayTogether(ColumnOrdering ordering) {
    for (int seed = 1; seed <= 20; seed++) {
      SparsityPattern once = RandomPatterns.uniform(60, 40, 3, seed);
      SparsityPattern twice = RandomPatterns.duplicateColumns(once);
      FillCounter.Graph g = FillCounter.Graph.of(twice);
      FillCounter.Graph h = FillCounter.Graph.of(once);
      double flops = FillCounter.cholesky(g.n(), g.ptr(), g.adj(), ordering.order(twice).toArray());
      double single = FillCounter.cholesky(h.n(), h.ptr(), h.adj(), ordering.order(once).toArray());
      // A column twice: each count doubles (2 c and 2 c - 1), and there are two of them.
      assertThat(flops).as("seed %d", seed).isLessThanOrEqualTo(1.15 * 8 * single);
    }
  }
}
