/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.assembly;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.numeric.RowBlock;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.TestMatrices;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RowsByFrontTest {

  private static final int[] FRONT = {4, 2, 4, 4, 9, 2, 4};

  private static RowsByFront grouped(int... fronts) {
    return new RowsByFront(new SubtreeProblem(analysis(), fronts, rows(FRONT), List.of()));
  }

  /** Row i has i % 3 entries, all of value i, and the right-hand sides 10 i and 10 i + 1. */
  private static RowBlock rows(int[] front) {
    int[] start = new int[front.length + 1];
    double[] right = new double[2 * front.length];
    for (int i = 0; i < front.length; i++) {
      start[i + 1] = start[i] + i % 3;
      right[2 * i] = 10 * i;
      right[2 * i + 1] = 10 * i + 1;
    }
    double[] value = new double[start[front.length]];
    int[] position = new int[value.length];
    for (int i = 0; i < front.length; i++) {
      for (int k = start[i]; k < start[i + 1]; k++) {
        value[k] = i;
        position[k] = 100 * i + k - start[i];
      }
    }
    return new RowBlock(front, start, position, value, right, 2);
  }

  private static SymbolicAnalysis analysis() {
    var a = TestMatrices.sparse(200, 80, 2, new Random(1));
    var options = SymbolicOptions.defaults().withOrdering(OrderingMethod.NATURAL);
    return SymbolicAnalyzer.analyze(a.pattern(), options.withSingletons(false));
  }

  @Test
  void rowsOfEachFrontAreInTheirOrder() {
    for (RowsByFront g : List.of(grouped(2, 4, 7, 9), grouped(2, 3, 4, 5, 6, 7, 8, 9))) {
      assertThat(List.of(g.count(2), g.count(4), g.count(7), g.count(9)))
          .containsExactly(2, 4, 0, 1);
      assertThat(List.of(g.row(2, 0), g.row(2, 1))).containsExactly(1, 5);
      assertThat(List.of(g.row(4, 0), g.row(4, 1), g.row(4, 2), g.row(4, 3)))
          .containsExactly(0, 2, 3, 6);
      assertThat(g.row(9, 0)).isEqualTo(4);
      assertThat(List.of(g.run(4, 0), g.run(4, 1), g.run(4, 2), g.run(4, 3)))
          .containsExactly(1, 2, 1, 1);
      // rows 0, 2, 3 and 6 have 0, 2, 0 and 0 entries
      assertThat(List.of(g.entries(2), g.entries(4), g.entries(7)))
          .containsExactly(1 + 2 + 4L, 2 + 8L, 0L);
      assertThat(g.has(2) && g.has(9) && !g.has(1) && !g.has(10) && !g.has(-1)).isTrue();
    }
    assertThat(grouped(2, 4, 7, 9).place(9)).isEqualTo(3);
    assertThat(grouped(2, 4, 7, 9).place(5)).isEqualTo(-1);
    assertThat(grouped(2, 3, 4, 5, 6, 7, 8, 9).place(9)).isEqualTo(7);
  }

  @Test
  void someFrontsRowsAloneAreABlock() {
    RowBlock some = grouped(2, 4, 7, 9).only(new int[] {2, 7, 9});
    assertThat(some.front()).containsExactly(2, 2, 9);
    assertThat(some.rowStart()).containsExactly(0, 1, 3, 4);
    assertThat(some.position()).containsExactly(100, 500, 501, 400);
    assertThat(some.value()).containsExactly(1, 5, 5, 4);
    assertThat(some.rhs()).containsExactly(10, 11, 50, 51, 40, 41);
  }

  @Test
  void otherValuesOfTheSameStructureAreGroupedTheSame() {
    var g = grouped(2, 4, 9);
    RowBlock same = rows(FRONT.clone());
    same.value()[0] = 77;
    assertThat(g.sameStructure(same, 2)).isTrue();
    var with = g.withValues(same);
    assertThat(with.rows()).isSameAs(same);
    assertThat(with.row(4, 2)).isEqualTo(3);
    assertThat(with.place(9)).isEqualTo(2);
    RowBlock moved = rows(FRONT.clone());
    moved.position()[0]++;
    assertThat(g.sameStructure(moved, 2)).isFalse();
    assertThat(g.sameStructure(rows(new int[] {4, 2, 4, 4, 9, 4, 2}), 2)).isFalse();
    assertThat(g.sameStructure(rows(new int[] {4, 2, 4, 4, 9, 2}), 2)).isFalse();
  }

  @Test
  void theGroupingDoesNotDependOnTheNumberOfThreads() {
    var random = new Random(7);
    int[] fronts = {0, 1, 3, 4, 8};
    // 150,000 rows: several chunks of at least 2^15
    int[] front = IntStream.range(0, 150_000).map(i -> fronts[random.nextInt(4)]).toArray();
    var problem = new SubtreeProblem(analysis(), fronts, rows(front.clone()), List.of());
    var one = new RowsByFront(problem);
    for (int threads : new int[] {2, 3, 16}) {
      var many = new RowsByFront(problem, threads);
      for (int f : fronts) {
        assertThat(many.count(f)).isEqualTo(one.count(f));
        assertThat(many.entries(f)).isEqualTo(one.entries(f));
        int last = -1;
        long values = 0;
        for (int k = 0; k < one.count(f); k++) {
          int row = many.row(f, k);
          assertThat(row).isEqualTo(one.row(f, k)).isGreaterThan(last);
          assertThat(many.valuesBefore(f, k)).isEqualTo(values);
          values += row % 3;
          last = row;
        }
      }
      assertThat(many.sameStructure(rows(front.clone()), threads)).isTrue();
    }
    front[140_000] = 8;
    assertThat(one.sameStructure(rows(front.clone()), 3)).isFalse();
    front[140_000] = 2;
    var wrong = new SubtreeProblem(analysis(), fronts, rows(front), List.of());
    assertThatThrownBy(() -> new RowsByFront(wrong, 3))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("row 140000 belongs to front 2");
  }

  @Test
  void noFrontsNoRows() {
    var none = new SubtreeProblem(analysis(), new int[0], RowBlock.empty(1), List.of());
    assertThat(new RowsByFront(none).has(0)).isFalse();
  }

  @Test
  void rowsOfOtherFrontsAndFrontsOutOfOrderAreRefused() {
    for (int[] fronts : new int[][] {{2, 4}, {4, 9}, {2, 9}, {2, 3, 4}, {}}) {
      assertThatThrownBy(() -> grouped(fronts))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("which is not in the task");
    }
    for (int[] fronts : new int[][] {{4, 2, 9}, {2, 2, 4, 9}}) {
      assertThatThrownBy(() -> grouped(fronts))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("ascending");
    }
  }
}
