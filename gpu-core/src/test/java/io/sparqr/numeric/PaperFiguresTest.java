/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.backend.cpu.CpuSubtreeFactorizer;
import io.sparqr.numeric.assembly.FrontLayout;
import io.sparqr.numeric.assembly.RowsByFront;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.symbolic.Amalgamation;
import io.sparqr.symbolic.PublishedMatrix;
import io.sparqr.symbolic.Staircase;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * The worked example of Yeralan, Davis, Sid-Lakhdar and Ranka, figures 1 to 4: a matrix of 23 x 12,
 * its fronts, the assembly of a leaf and of a front with three children, and which entries of the
 * factored fronts belong to R, to the reflectors and to the contribution block. Everything here
 * counts from one, as the figures do.
 */
class PaperFiguresTest {

  private static final long SEED = Long.getLong("test.seed", 42L);

  /** Figure 1: the columns of each row. */
  private static final int[][] ROWS = PublishedMatrix.rows();

  private static final int COLUMNS = 12;

  /** Front 4 of the figures, {5, 6, 7}, counted from zero. */
  private static final int MIDDLE = 3;

  /** Figure 4, left: the rows of front 4 in their order, its own of A and its children's. */
  private static final List<String> ASSEMBLED =
      List.of(
          "16",
          "17",
          "18",
          "child 3: 13",
          "19",
          "20",
          "child 1: 3",
          "child 2: 8",
          "21",
          "22",
          "child 2: 9",
          "child 3: 14",
          "child 1: 4",
          "child 2: 10",
          "child 3: 15",
          "child 1: 5",
          "child 2: 11");

  private static CsrMatrix matrix(Random random) {
    var rows = new ArrayList<TreeMap<Integer, Double>>();
    for (int[] columns : ROWS) {
      var row = new TreeMap<Integer, Double>();
      for (int j : columns) {
        row.put(j - 1, random.nextDouble(1, 2) * (random.nextBoolean() ? 1 : -1));
      }
      rows.add(row);
    }
    return TestMatrices.of(COLUMNS, rows);
  }

  /** The order of the figures; parent and child are one front if the rows of R have one pattern. */
  private static SymbolicAnalysis analysis(CsrMatrix a) {
    return SymbolicAnalyzer.analyze(
        a.pattern(),
        SymbolicOptions.defaults()
            .withOrdering(OrderingMethod.NATURAL)
            .withSingletons(false)
            .withAmalgamation(new Amalgamation(0, 0, 0, 0, 0, Double.MIN_NORMAL)));
  }

  /**
   * The patterns of the rows of R by their definition: rows with the same leftmost column become
   * one, whose rest passes to its own leftmost column.
   */
  private static List<TreeSet<Integer>> rowsOfR() {
    var r = new ArrayList<TreeSet<Integer>>();
    for (int k = 0; k <= COLUMNS; k++) {
      r.add(new TreeSet<>());
    }
    for (int[] row : ROWS) {
      r.get(row[0]).addAll(IntStream.of(row).boxed().toList());
    }
    for (int k = 1; k <= COLUMNS; k++) {
      var rest = r.get(k).tailSet(k, false);
      if (!rest.isEmpty()) {
        r.get(rest.first()).addAll(rest);
      }
    }
    return r;
  }

  @Test
  void theFrontsAreThoseOfTheFigures() {
    SymbolicAnalysis s = analysis(matrix(new Random(SEED)));
    int[][] columns = {
      {1, 2, 6, 8, 11},
      {3, 6, 7, 8, 12},
      {4, 5, 7, 9, 11},
      {5, 6, 7, 8, 9, 11, 12},
      {8, 9, 10, 11, 12}
    };
    int[] pivots = {2, 1, 1, 3, 5};
    long[] rows = {6, 5, 4, 17, 5};
    long[] blockRows = {3, 4, 3, 4, 0};
    int[] parent = {MIDDLE, MIDDLE, MIDDLE, 4, -1};
    assertThat(s.permutation().toArray()).isEqualTo(IntStream.range(0, COLUMNS).toArray());
    assertThat(s.fronts()).isEqualTo(5);
    List<TreeSet<Integer>> r = rowsOfR();
    for (int f = 0; f < 5; f++) {
      int front = f;
      int[] mine = IntStream.range(0, s.fn(f)).map(k -> s.column(front, k) + 1).toArray();
      assertThat(mine).as("columns of front %d", f + 1).isEqualTo(columns[f]);
      assertThat(s.fp(f)).as("pivots of front %d", f + 1).isEqualTo(pivots[f]);
      assertThat(s.fm(f)).as("rows of front %d", f + 1).isEqualTo(rows[f]);
      assertThat(s.cm(f)).as("rows passed on by front %d", f + 1).isEqualTo(blockRows[f]);
      assertThat(s.parent(f)).as("parent of front %d", f + 1).isEqualTo(parent[f]);
      for (int k = 0; k < s.fp(f); k++) {
        assertThat(r.get(columns[f][k]))
            .as("row %d of R", columns[f][k])
            .containsExactly(
                IntStream.range(k, mine.length).mapToObj(i -> mine[i]).toArray(Integer[]::new));
      }
    }
  }

  /** Figures 3 and 4, right: under each diagonal entry the h reach down to the staircase. */
  @Test
  void reflectorsEndAtTheStaircase() {
    SymbolicAnalysis s = analysis(matrix(new Random(SEED)));
    assertThat(Staircase.of(s, 0)).containsExactly(3, 6, 6, 6, 6);
    assertThat(Staircase.of(s, MIDDLE)).containsExactly(4, 8, 12, 14, 15, 16, 17);
  }

  @Test
  void rowsAndBlocksComeTogetherInTheOrderOfFigureFour() {
    CsrMatrix a = matrix(new Random(SEED));
    SymbolicAnalysis s = analysis(a);
    // the right-hand side of a row is its number, by which it is known again
    double[] number = IntStream.rangeClosed(1, ROWS.length).asDoubleStream().toArray();
    RowSplit split = RowSplit.of(a, number, 1, s, ones());
    int[] all = IntStream.range(0, s.fronts()).toArray();
    var rows = new RowsByFront(new SubtreeProblem(s, all, split.rows(), List.of()));
    var layout = new FrontLayout(s, rows, FrontLayout.EmptyRows.BEHIND);
    layout.begin(MIDDLE);
    for (int c = 0; c < MIDDLE; c++) {
      layout.addChild(c, (int) s.cm(c));
    }
    layout.sort();
    // A block's rows have the numbers of the child's rows in which the figures put them.
    int[] firstOfBlock = {3, 8, 13};
    String[] order = new String[layout.count()];
    for (int i = 0; i < order.length; i++) {
      String name;
      if (i < layout.own()) {
        name = "" + (int) rows.rows().rhs()[layout.row(i)];
      } else {
        int c = layout.childOf(i);
        name = "child %d: %d".formatted(c + 1, firstOfBlock[c] + i - layout.childRow(c));
      }
      order[layout.destination()[i]] = name;
    }
    assertThat(order).containsExactlyElementsOf(ASSEMBLED);
  }

  @Test
  void factorsAndBlocksHaveTheEntriesOfTheFigures() {
    CsrMatrix a = matrix(new Random(SEED));
    SymbolicAnalysis s = analysis(a);
    TaskRun run;
    try (var backend = new CpuSubtreeFactorizer()) {
      run =
          TaskRun.run(
              backend,
              s,
              RowSplit.of(a, new double[ROWS.length], 1, s, ones()).rows(),
              TaskRun.single(s),
              new FactorOptions(1e-14, 1, 0));
    }
    double[][] r = new double[COLUMNS][COLUMNS];
    for (FrontFactor factor : run.fronts) {
      int f = factor.front();
      double[] values = TestMatrices.rowsOfR(factor);
      int at = 0;
      for (int i = 0; i < s.fp(f); i++) {
        for (int k = i; k < s.fn(f); k++) {
          r[s.firstPivot(f) + i][s.column(f, k)] = values[at++];
        }
      }
    }
    for (int t = 0; t < 4; t++) {
      ContributionBlock c = run.factors.get(t).outputs().get(0);
      assertThat(c.cm()).isEqualTo((int) s.cm(t));
      for (int i = 0; i < c.cm(); i++) {
        for (long k = c.rowOffset(i); k < c.rowOffset(i) + c.cn() - i; k++) {
          assertThat(c.values()[(int) k]).as("row %d of block %d", i, t + 1).isNotZero();
        }
      }
    }
    requireFactor(a, r);
  }

  /** Independent: R has the pattern of its definition, and R'R = A'A. */
  private static void requireFactor(CsrMatrix a, double[][] r) {
    List<TreeSet<Integer>> pattern = rowsOfR();
    double[][] dense = new double[ROWS.length][COLUMNS];
    for (int i = 0; i < a.rows(); i++) {
      for (int e = a.rowStart()[i]; e < a.rowStart()[i + 1]; e++) {
        dense[i][a.columnIndex()[e]] = a.values()[e];
      }
    }
    double norm = Tolerances.frobenius(a);
    double limit = Tolerances.of(ROWS.length, COLUMNS, norm * norm);
    for (int i = 0; i < COLUMNS; i++) {
      for (int j = 0; j < COLUMNS; j++) {
        boolean there = j >= i && pattern.get(i + 1).contains(j + 1);
        assertThat(r[i][j] != 0).as("R has entry %d, %d", i + 1, j + 1).isEqualTo(there);
        assertThat(product(r, i, j)).isCloseTo(product(dense, i, j), within(limit));
      }
    }
  }

  private static double product(double[][] a, int i, int j) {
    return Arrays.stream(a).mapToDouble(row -> row[i] * row[j]).sum();
  }

  private static double[] ones() {
    double[] ones = new double[COLUMNS];
    Arrays.fill(ones, 1);
    return ones;
  }
}
