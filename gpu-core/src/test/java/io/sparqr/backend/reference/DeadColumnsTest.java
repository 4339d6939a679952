/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.reference;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.SampledCases;
import io.sparqr.backend.cpu.CpuSubtreeFactorizer;
import io.sparqr.backend.schedule.SchedulerOptions;
import io.sparqr.backend.staged.StagedFactorization;
import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.FrontFactor;
import io.sparqr.numeric.RowSplit;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeFactorizer;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.TestMatrices;
import io.sparqr.numeric.Tolerances;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.symbolic.Amalgamation;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.IntPredicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Dead columns anywhere are dropped by the fronts' own tasks. The CPU backend and Heath's method
 * must find the same columns, R'R must equal A'A for the others, and the host must have nothing to
 * do.
 */
class DeadColumnsTest {

  private static final SchedulerOptions TILED =
      SchedulerOptions.defaults().withBundle(3).withSmallFronts(0, 0);

  /** Which columns of a front's pivots are dead. */
  private enum Where {
    NONE(j -> false),
    FIRST(j -> j == 0),
    LAST(j -> j == 69),
    A_TILE(j -> j / 32 == 1),
    EVERY_SECOND(j -> j % 2 == 1),
    ALL(j -> true);

    private final IntPredicate dead;

    Where(IntPredicate dead) {
      this.dead = dead;
    }
  }

  /** A matrix and its task. */
  private static final class Case {
    final CsrMatrix a;
    final SymbolicAnalysis analysis;
    final SubtreeProblem problem;
    final FactorOptions options;

    Case(CsrMatrix a, OrderingMethod ordering, int rhs, long seed) {
      this.a = a;
      var symbolic =
          SymbolicOptions.defaults()
              .withOrdering(ordering)
              .withAmalgamation(Amalgamation.none())
              .withSingletons(false)
              .withRhs(rhs);
      analysis = SymbolicAnalyzer.analyze(a.pattern(), symbolic);
      double[] ones = new double[a.columns()];
      Arrays.fill(ones, 1);
      double[] b = TestMatrices.vector(a.rows() * rhs, new Random(seed));
      int[] fronts = new int[analysis.fronts()];
      Arrays.setAll(fronts, f -> f);
      RowSplit split = RowSplit.of(a, b, rhs, analysis, ones);
      problem = new SubtreeProblem(analysis, fronts, split.rows(), List.of());
      double norm = Arrays.stream(Tolerances.columnNorms(a)).max().orElse(0);
      double tolerance = FactorOptions.defaultTolerance(a.rows(), a.columns(), norm);
      options = new FactorOptions(tolerance, 2, 0);
    }
  }

  /** Heath's method, which counts its calls. */
  private static final class Host implements SubtreeFactorizer {
    private final SubtreeFactorizer heath = new HeathFactorizer();
    private int fronts;

    @Override
    public SubtreeFactor factor(SubtreeProblem problem, FactorOptions options) {
      fronts += problem.fronts().length;
      return heath.factor(problem, options);
    }

    @Override
    public String description() {
      return "counting";
    }

    @Override
    public void close() {}
  }

  /** Runs the tasks in several orders; returns the number of fronts that went to the host. */
  private static int check(String what, Case c) {
    SubtreeFactor cpu;
    try (var backend = new CpuSubtreeFactorizer()) {
      cpu = backend.factor(c.problem, c.options);
    }
    var host = new Host();
    var staged = new StagedFactorization("reference", new TaskListExecutor(TILED), host);
    SubtreeFactor factor = staged.factor(c.problem, c.options);
    double limit = Tolerances.of(c.a.rows(), c.a.columns(), Tolerances.frobenius(c.a));
    for (int f = 0; f < cpu.fronts().size(); f++) {
      assertThat(factor.fronts().get(f).livePivot())
          .as("%s: live columns of front %d", what, f)
          .isEqualTo(cpu.fronts().get(f).livePivot());
    }
    assertThat(factor.summary().rank()).isEqualTo(cpu.summary().rank());
    assertThat(factor.summary().droppedNorm())
        .as("%s: dropped", what)
        .isLessThanOrEqualTo(c.options.rankTolerance())
        .isCloseTo(cpu.summary().droppedNorm(), within(limit));
    checkGram(what, c, factor, limit);
    for (int q = 0; q < c.problem.rows().rhsCount(); q++) {
      double expected = Math.sqrt(cpu.residualSquares()[q]);
      assertThat(Math.sqrt(factor.residualSquares()[q]))
          .as("%s: residual norm %d", what, q)
          .isCloseTo(expected, within(limit + Tolerances.REORDERED * expected));
    }
    var random = new Random(7);
    var another = new TaskListExecutor(TILED, random::nextInt);
    SubtreeFactor again =
        new StagedFactorization("reference", another, new Host()).factor(c.problem, c.options);
    for (int f = 0; f < cpu.fronts().size(); f++) {
      assertThat(TestMatrices.rowsOfR(again.fronts().get(f)))
          .as("%s: front %d in another order", what, f)
          .isEqualTo(TestMatrices.rowsOfR(factor.fronts().get(f)));
    }
    assertThat(again.residualSquares()).isEqualTo(factor.residualSquares());
    return host.fronts;
  }

  /** R'R = A'A and R'(Q'b) = A'b, except for what was dropped. */
  private static void checkGram(String what, Case c, SubtreeFactor factor, double limit) {
    int n = c.a.columns();
    int rhs = c.problem.rows().rhsCount();
    double[][] gram = new double[n][n + rhs];
    for (int i = 0; i < c.a.rows(); i++) {
      for (int k = c.a.rowStart()[i]; k < c.a.rowStart()[i + 1]; k++) {
        for (int l = c.a.rowStart()[i]; l < c.a.rowStart()[i + 1]; l++) {
          gram[c.a.columnIndex()[k]][c.a.columnIndex()[l]] += c.a.values()[k] * c.a.values()[l];
        }
      }
    }
    var rows = c.problem.rows();
    for (int i = 0; i < rows.rows(); i++) {
      for (int k = rows.rowStart()[i]; k < rows.rowStart()[i + 1]; k++) {
        int j = c.analysis.permutation().original(rows.position()[k]);
        for (int q = 0; q < rhs; q++) {
          gram[j][n + q] += rows.value()[k] * rows.rhs()[i * rhs + q];
        }
      }
    }
    for (FrontFactor f : factor.fronts()) {
      int at = 0;
      for (int i = 0; i < f.rank(); i++) {
        int first = f.livePivot()[i];
        for (int k = first; k < f.fn(); k++) {
          int column = original(c, f, k);
          for (int l = first; l < f.fn(); l++) {
            gram[column][original(c, f, l)] -=
                f.values().get(at + k - first) * f.values().get(at + l - first);
          }
          for (int q = 0; q < rhs; q++) {
            gram[column][n + q] -= f.values().get(at + k - first) * f.rhs()[i * rhs + q];
          }
        }
        at += f.fn() - first;
      }
    }
    double size = Tolerances.frobenius(c.a) + Math.sqrt(c.a.rows());
    for (double[] row : gram) {
      for (double x : row) {
        assertThat(x).as("%s: R'R - A'A, R'Q'b - A'b", what).isCloseTo(0, within(limit * size));
      }
    }
  }

  private static int original(Case c, FrontFactor f, int k) {
    return c.analysis.permutation().original(c.analysis.column(f.front(), k));
  }

  @ParameterizedTest
  @EnumSource(Where.class)
  void denseFronts(Where where) {
    var random = new Random(where.ordinal());
    for (int[] size : new int[][] {{70, 70}, {96, 70}, {300, 70}}) {
      double[][] a = new double[size[0]][size[1]];
      for (double[] row : a) {
        for (int j = 0; j < row.length; j++) {
          row[j] =
              where.dead.test(j) ? (j > 1 ? row[0] - 2 * row[j - 1] : 0) : random.nextGaussian();
        }
      }
      var c = new Case(TestMatrices.ofDense(a, 70, true), OrderingMethod.NATURAL, 2, 3);
      String what = where + ", " + size[0] + " x 70";
      assertThat(check(what, c)).as(what + ": fronts on the host").isZero();
    }
  }

  /**
   * A chain of fronts: block k of columns has rows of its own, which lie in block k + 1 too; there
   * are fewer rows than columns in both, so every dead column leaves a row over, which moves up the
   * chain.
   */
  @SampledCases(oneIn = 3)
  @ParameterizedTest
  @EnumSource(Where.class)
  void chainsThroughTenLevels(Where where) {
    int width = 70;
    int levels = 11;
    var random = new Random(100 + where.ordinal());
    int rows = 0;
    int[] count = new int[levels];
    for (int k = 0; k < levels; k++) {
      count[k] = k + 1 < levels ? width + random.nextInt(3) : 2 * width;
      rows += count[k];
    }
    double[][] a = new double[rows][width * levels];
    int row = 0;
    for (int k = 0; k < levels; k++) {
      for (int i = 0; i < count[k]; i++, row++) {
        for (int j = 0; j < Math.min(2, levels - k) * width; j++) {
          a[row][k * width + j] = random.nextGaussian();
        }
      }
    }
    CsrMatrix full = TestMatrices.ofDense(a, width * levels, false);
    double[] values = full.values().clone();
    // In every second block: a column that dies there is dead in all rows.
    for (int i = 0; i < rows; i++) {
      for (int k = full.rowStart()[i]; k < full.rowStart()[i + 1]; k++) {
        int column = full.columnIndex()[k];
        int j = column % width;
        if (column / width % 2 == 0 && where.dead.test(j)) {
          values[k] = j > 0 ? a[i][column - j] * 0.5 : 0;
        }
      }
    }
    var spoiled = new CsrMatrix(rows, width * levels, full.rowStart(), full.columnIndex(), values);
    var c = new Case(spoiled, OrderingMethod.NATURAL, 1, 5);
    assertThat(c.analysis.fronts()).isEqualTo(levels - 1);
    int onHost = check("chain, " + where, c);
    assertThat(onHost).as("chain, %s: fronts on the host", where).isZero();
  }

  /** Complexes and LPs of the gallery, with dead columns in child and parent. */
  @ParameterizedTest
  @ValueSource(strings = {"gen:nug5", "gen:ch4-4-b2", "gen:ch5-4-b3"})
  void realStructures(String name) {
    CsrMatrix a = Gallery.generate(name);
    for (var ordering : List.of(OrderingMethod.COLAMD, OrderingMethod.NESTED_DISSECTION)) {
      var c = new Case(a, ordering, 1, 11);
      check(name + ", " + ordering, c);
    }
  }

  /** Random sparse problems whose columns depend on others, in the same front or below it. */
  @Test
  void randomProblems() {
    for (long seed = 1; seed <= 25; seed++) {
      var random = new Random(seed);
      int n = 20 + random.nextInt(150);
      CsrMatrix a = TestMatrices.sparse(n + random.nextInt(n), n, 2 + random.nextInt(3), random);
      double[] values = a.values().clone();
      boolean[] zero = new boolean[n];
      for (int j = 0; j < n; j++) {
        zero[j] = random.nextInt(8) == 0;
      }
      for (int k = 0; k < a.nonzeros(); k++) {
        values[k] = zero[a.columnIndex()[k]] ? 0 : values[k];
      }
      var b = new CsrMatrix(a.rows(), n, a.rowStart(), a.columnIndex(), values);
      var ordering = random.nextBoolean() ? OrderingMethod.COLAMD : OrderingMethod.NATURAL;
      check("seed " + seed, new Case(b, ordering, random.nextInt(3), seed));
    }
  }
}
