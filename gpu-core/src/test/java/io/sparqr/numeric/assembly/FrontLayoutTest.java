/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.assembly;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.numeric.RowBlock;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.TestMatrices;
import io.sparqr.numeric.assembly.FrontLayout.EmptyRows;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Against columns that are looked up one by one, and a sort of objects. */
class FrontLayoutTest {

  /** A row that comes into a front: its columns, by position. */
  private record Row(int number, int[] positions) {

    int leftmost(List<Integer> columns, EmptyRows empty) {
      int none = columns.size() - (empty == EmptyRows.BEHIND ? 0 : 1);
      return positions.length == 0 ? none : columns.indexOf(positions[0]);
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
  void everyRowAndColumnHasItsPlace(long seed) {
    var random = new Random(seed);
    SymbolicAnalysis analysis = analysis(random);
    // All fronts, or some that are not consecutive.
    int[] fronts =
        IntStream.range(0, analysis.fronts())
            .filter(f -> seed % 3 == 0 || random.nextInt(3) > 0)
            .toArray();
    RowBlock rows = rows(analysis, fronts, random);
    var byFront = new RowsByFront(new SubtreeProblem(analysis, fronts, rows, List.of()));
    for (EmptyRows empty : EmptyRows.values()) {
      var layout = new FrontLayout(analysis, byFront, empty);
      for (int f : fronts) {
        var expected = new ArrayList<Row>();
        layout.begin(f);
        for (int i = 0; i < rows.rows(); i++) {
          if (rows.front()[i] == f) {
            int[] p =
                Arrays.copyOfRange(rows.position(), rows.rowStart()[i], rows.rowStart()[i + 1]);
            assertThat(layout.row(expected.size())).as("seed %d, row %d", seed, i).isEqualTo(i);
            expected.add(new Row(expected.size(), p));
          }
        }
        assertThat(layout.own()).isEqualTo(expected.size()).isEqualTo(byFront.count(f));
        for (int k = 0; k < analysis.childCount(f); k++) {
          addChild(analysis, analysis.child(f, k), layout, expected, random);
        }
        layout.sort();
        for (int i = 0; i < layout.own(); i++) {
          checkPlaces(analysis, f, layout, layout.row(i), expected.get(i).positions);
        }
        check(
            "seed " + seed + ", front " + f + ", empty rows " + empty,
            analysis,
            f,
            layout,
            expected,
            empty);
      }
    }
  }

  /** The places of a row's entries, in a longer array. */
  private static void checkPlaces(
      SymbolicAnalysis analysis, int f, FrontLayout layout, int row, int[] positions) {
    int[] target = new int[positions.length + 2];
    Arrays.fill(target, -7);
    layout.places(row, 1000, target, 1);
    for (int e = 0; e < positions.length; e++) {
      assertThat(analysis.column(f, target[1 + e] - 1000)).isEqualTo(positions[e]);
    }
    assertThat(List.of(target[0], target[positions.length + 1])).containsExactly(-7, -7);
  }

  @Test
  void aRowOfFullLengthHasToHaveTheFrontsColumns() {
    SymbolicAnalysis analysis = analysis(new Random(3));
    int f =
        IntStream.range(0, analysis.fronts())
            .filter(g -> analysis.fn(g) > 2)
            .findFirst()
            .orElseThrow();
    int fn = analysis.fn(f);
    int[] positions = IntStream.range(0, fn).map(k -> analysis.column(f, k)).toArray();
    int other =
        IntStream.range(positions[fn - 2] + 1, analysis.columns())
            .filter(p -> p != positions[fn - 1])
            .findFirst()
            .orElseThrow();
    positions[fn - 1] = other;
    var rows =
        new RowBlock(new int[] {f}, new int[] {0, fn}, positions, new double[fn], new double[1], 1);
    var problem = new SubtreeProblem(analysis, new int[] {f}, rows, List.of());
    var layout = new FrontLayout(analysis, new RowsByFront(problem), EmptyRows.BEHIND);
    layout.begin(f);
    assertThatThrownBy(() -> layout.places(0, 0, new int[fn], 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("row 0 has position " + other);
  }

  /** Some children pass nothing. */
  private static void addChild(
      SymbolicAnalysis analysis, int c, FrontLayout layout, List<Row> rows, Random random) {
    int cn = analysis.cn(c);
    int cm = random.nextInt(cn + 1);
    if (random.nextInt(4) == 0) {
      return;
    }
    int number = layout.children();
    layout.addChild(c, cm);
    assertThat(layout.child(number)).isEqualTo(c);
    assertThat(layout.childRow(number)).isEqualTo(rows.size());
    for (int i = 0; i < cm; i++) {
      int first = analysis.fp(c) + i;
      int[] p = IntStream.range(first, analysis.fn(c)).map(k -> analysis.column(c, k)).toArray();
      rows.add(new Row(rows.size(), p));
    }
  }

  private static void check(
      String name,
      SymbolicAnalysis analysis,
      int f,
      FrontLayout layout,
      List<Row> rows,
      EmptyRows empty) {
    List<Integer> columns =
        IntStream.range(0, analysis.fn(f)).mapToObj(k -> analysis.column(f, k)).toList();
    assertThat(layout.count()).as(name).isEqualTo(rows.size());
    for (Row r : rows) {
      assertThat(layout.leftmost(r.number)).as(name).isEqualTo(r.leftmost(columns, empty));
    }
    // List.sort is stable.
    var sorted = new ArrayList<>(rows);
    sorted.sort(Comparator.comparingInt(r -> r.leftmost(columns, empty)));
    int[] order = layout.sortedOrder();
    for (int at = 0; at < sorted.size(); at++) {
      assertThat(layout.destination()[sorted.get(at).number]).as(name).isEqualTo(at);
      assertThat(order[at]).as(name).isEqualTo(sorted.get(at).number);
    }
    for (int k = 0; k < columns.size(); k++) {
      int column = k;
      long upTo = rows.stream().filter(r -> r.leftmost(columns, empty) <= column).count();
      assertThat((long) layout.stair()[k]).as("%s: stair %d", name, k).isEqualTo(upTo);
      assertThat(layout.column(0, columns.get(k))).as(name).isEqualTo(k);
    }
    for (int c = 0; c < layout.children(); c++) {
      int child = layout.child(c);
      int from = layout.columnStart(c);
      assertThat(layout.columnStart(c + 1) - from).as(name).isEqualTo(analysis.cn(child));
      for (int j = 0; j < analysis.cn(child); j++) {
        int position = analysis.column(child, analysis.fp(child) + j);
        assertThat(layout.columns()[from + j]).as(name).isEqualTo(columns.indexOf(position));
      }
      for (int i = layout.childRow(c); i < layout.childRow(c + 1); i++) {
        assertThat(layout.childOf(i)).as("%s: row %d", name, i).isEqualTo(c);
      }
    }
    for (int p = -1; p <= analysis.columns(); p++) {
      if (!columns.contains(p)) {
        int other = p;
        assertThatThrownBy(() -> layout.column(7, other))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining("row 7 has position " + p)
            .hasMessageContaining("front " + f);
      }
    }
  }

  private static SymbolicAnalysis analysis(Random random) {
    int n = 20 + random.nextInt(60);
    CsrMatrix a = TestMatrices.sparse(3 * n, n, 1 + random.nextInt(3), random);
    var options = SymbolicOptions.defaults().withOrdering(OrderingMethod.COLAMD);
    return SymbolicAnalyzer.analyze(a.pattern(), options.withSingletons(false));
  }

  /** Rows of random fronts in random order, each some of its front's columns; some have none. */
  private static RowBlock rows(SymbolicAnalysis analysis, int[] fronts, Random random) {
    int n = fronts.length == 0 ? 0 : 150;
    int[] front = new int[n];
    int[] start = new int[n + 1];
    var position = new ArrayList<Integer>();
    for (int i = 0; i < n; i++) {
      front[i] = fronts[random.nextInt(fronts.length)];
      int density = random.nextInt(5);
      for (int k = 0; k < analysis.fn(front[i]); k++) {
        if (random.nextInt(4) < density) {
          position.add(analysis.column(front[i], k));
        }
      }
      start[i + 1] = position.size();
    }
    int[] p = position.stream().mapToInt(Integer::intValue).toArray();
    return new RowBlock(front, start, p, random.doubles(p.length).toArray(), new double[n], 1);
  }
}
