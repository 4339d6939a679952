/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.SampledCases;
import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.sparse.Permutation;
import io.sparqr.symbolic.Amalgamation;
import io.sparqr.symbolic.Reduction;
import io.sparqr.symbolic.SymbolicOptions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The factors of fronts of all shapes, whole or cut into tasks: R, Q'b and the norm of the
 * residual.
 */
interface FactorContract extends BackendUnderTest {

  /** Whether several fronts of a task are factored as one, so that bits depend on its cut. */
  default boolean factorsTrees() {
    return false;
  }

  /** Of sizes around those of a warp, a tile and three tiles. */
  @SampledCases(oneIn = 5)
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 31, 32, 33, 63, 64, 65, 95, 96, 97})
  default void denseFrontsOfAllShapes(int n) {
    for (int m : new int[] {1, 2, 31, 32, 33, 63, 64, 65, 95, 96, 97}) {
      var random = new Random(1000L * m + n);
      var c =
          ContractCase.natural(
              "dense " + m + " x " + n,
              TestMatrices.dense(m, n, random),
              TestMatrices.vector(m, random),
              1);
      c.verify(c.run(backend(), TaskRun.whole(c.analysis), 1), Math.min(m, n));
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
  default void sparseMatricesWholeAndCut(long seed) {
    var random = new Random(seed);
    int n = 20 + random.nextInt(150);
    int m = n / 2 + random.nextInt(3 * n);
    CsrMatrix a = TestMatrices.sparse(m, n, 1 + random.nextInt(4), random);
    var c = ContractCase.dissected("seed " + seed, a, TestMatrices.vector(m, random), 1);
    double[] x = c.verify(c.run(backend(), TaskRun.whole(c.analysis), 2), -1);
    double[] y = c.verify(c.run(backend(), TaskRun.single(c.analysis), 1), -1);
    double[] z = c.verify(c.run(backend(), TaskRun.subtrees(c.analysis, 4), 2), -1);
    // Cut or whole, the same fronts get the same rows in the same order.
    if (!factorsTrees()) {
      assertThat(y).as("seed %d: every front a task", seed).isEqualTo(x);
      assertThat(z).as("seed %d: subtrees", seed).isEqualTo(x);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 3})
  default void rightHandSides(int nrhs) {
    var random = new Random(5);
    CsrMatrix a = TestMatrices.sparse(260, 90, 3, random);
    var c = ContractCase.dissected(nrhs + " rhs", a, TestMatrices.vector(260 * nrhs, random), nrhs);
    double[] x = c.verify(c.run(backend(), TaskRun.subtrees(c.analysis, 3), 1), -1);
    assertThat(x).hasSize(90 * nrhs);
  }

  @Test
  default void staircases() {
    for (int[] size : new int[][] {{70, 50}, {300, 100}, {50, 90}, {1000, 130}}) {
      var random = new Random(size[0]);
      CsrMatrix a = TestMatrices.staircase(size[0], size[1], random);
      var c =
          ContractCase.natural("staircase " + size[0], a, TestMatrices.vector(size[0], random), 1);
      c.verify(c.run(backend(), TaskRun.whole(c.analysis), 1), -1);
    }
  }

  @Test
  default void farMoreRowsThanColumns() {
    var random = new Random(11);
    CsrMatrix a = TestMatrices.dense(20_000, 33, random);
    var c = ContractCase.natural("tall", a, TestMatrices.vector(20_000, random), 1);
    c.verify(c.run(backend(), TaskRun.whole(c.analysis), 1), 33);
  }

  @Test
  default void fartherStillSoThatRowsComeInChunks() {
    var random = new Random(17);
    CsrMatrix a = TestMatrices.incidence(290_000, 30, random);
    var c = ContractCase.natural("edges", a, TestMatrices.vector(290_000, random), 1);
    long tallest = 0;
    for (int f = 0; f < c.analysis.fronts(); f++) {
      tallest = Math.max(tallest, c.analysis.fm(f) * c.analysis.fn(f));
    }
    assertThat(tallest).isGreaterThan(1L << 23);
    c.verify(c.run(backend(), TaskRun.whole(c.analysis), 2), 29);
  }

  @Test
  default void oneRowOneColumn() {
    var random = new Random(4);
    for (int[] size : new int[][] {{1, 1}, {1, 40}, {40, 1}, {3, 200}}) {
      CsrMatrix a = TestMatrices.dense(size[0], size[1], random);
      var c = ContractCase.natural("thin", a, TestMatrices.vector(size[0], random), 1);
      c.verify(c.run(backend(), TaskRun.whole(c.analysis), 1), Math.min(size[0], size[1]));
    }
  }

  /**
   * Two rows with a column of their own each, and 60,000 that both have: the rows end in the fronts
   * of their own columns, and the front above has columns alone, more than fit into the shared
   * memory of a thread block.
   */
  @Test
  default void aFrontOfColumnsWithoutRows() {
    int n = 60_000;
    var random = new Random(23);
    int[] column = new int[2 * (n + 1)];
    for (int j = 0; j <= n; j++) {
      column[j] = j == 0 ? 0 : j + 1;
      column[n + 1 + j] = j + 1;
    }
    double[] v = TestMatrices.vector(column.length, random);
    var a = new CsrMatrix(2, n + 2, new int[] {0, n + 1, 2 * (n + 1)}, column, v);
    var options =
        SymbolicOptions.defaults()
            .withOrdering(OrderingMethod.NATURAL)
            .withAmalgamation(Amalgamation.none());
    var c = new ContractCase("no rows", a, TestMatrices.vector(2, random), 1, options);
    int last = c.analysis.fronts() - 1;
    assertThat(c.analysis.fm(last)).isZero();
    assertThat(c.analysis.fn(last)).isEqualTo(n);
    TaskRun run = c.run(backend(), TaskRun.whole(c.analysis), 1);
    assertThat(run.summary.rank()).isEqualTo(2);
    for (int f = 0; f < 2; f++) {
      // R is the row itself or its negative, as is Q'b: three products and a difference of numbers
      // up to twice as large, where a backend applies the reflection as such.
      FrontFactor r = run.fronts.get(f);
      double sign = Math.signum(r.values().get(0) * v[f * (n + 1)]);
      for (int k = 0; k <= n + 1; k++) {
        double found = k <= n ? r.values().get(k) : r.rhs()[0];
        double expected = sign * (k <= n ? v[f * (n + 1) + k] : c.b[f]);
        double limit = Tolerances.roundings(8, Math.abs(expected));
        Tolerances.require(Math.abs(found - expected), limit, "row %d, entry %d", f, k);
      }
    }
    assertThat(run.fronts.get(last).rank()).isZero();
  }

  /**
   * First the levels of a factor, each with rows of its own, then the columns that all of them
   * share.
   */
  private static CsrMatrix star(int levels, int shared, boolean dummies, Random random) {
    var rows = new ArrayList<TreeMap<Integer, Double>>();
    for (int g = 0; g < levels; g++) {
      int count = 1 + random.nextInt(3 * shared);
      for (int i = 0; i < count; i++) {
        var row = new TreeMap<Integer, Double>();
        row.put(g, dummies ? 1 : random.nextGaussian());
        for (int k = dummies ? 1 : 1 + random.nextInt(shared); k > 0; k--) {
          row.put(levels + random.nextInt(shared), dummies ? 1 : random.nextGaussian());
        }
        rows.add(row);
      }
    }
    return TestMatrices.of(levels + shared, rows);
  }

  @SampledCases(oneIn = 6)
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6})
  default void blocksOfManyChildrenReducedInATree(long seed) {
    var random = new Random(seed);
    boolean dummies = seed % 2 == 0;
    int shared = 3 + random.nextInt(seed < 5 ? 10 : 40);
    CsrMatrix a = star(150 + random.nextInt(300), shared, dummies, random);
    double[] b = TestMatrices.vector(2 * a.rows(), random);
    var options = SymbolicOptions.defaults().withOrdering(OrderingMethod.NATURAL);
    var plain = new ContractCase("star " + seed, a, b, 2, options.withReduction(Reduction.none()));
    int rank =
        plain
            .run(backend(), TaskRun.whole(plain.analysis), 1)
            .factorization(plain.ones(), plain.tolerance, 2)
            .rank();
    var c =
        new ContractCase(
            "star in a tree " + seed, a, b, 2, options.withReduction(new Reduction(4, 1, 0, 1)));
    int deep = 0;
    for (int f = 0; f < c.analysis.fronts(); f++) {
      int p = c.analysis.parent(f);
      deep += c.analysis.fp(f) == 0 && p >= 0 && c.analysis.fp(p) == 0 ? 1 : 0;
    }
    assertThat(deep).as("reductions of reductions, seed %d", seed).isPositive();
    for (int[] tasks :
        List.of(
            TaskRun.whole(c.analysis),
            TaskRun.subtrees(c.analysis, 30),
            TaskRun.subtrees(c.analysis, 7))) {
      c.verify(c.run(backend(), tasks, 2), rank);
    }
    c.verifyKeptQ(backend(), TaskRun.subtrees(c.analysis, 40), 1);
  }

  @Test
  default void sameBitsWheneverAndWithHoweverManyThreads() {
    CsrMatrix grid = Gallery.generate("gen:cells2d60");
    var random = new Random(13);
    CsrMatrix dense = TestMatrices.dense(700, 420, random);
    for (CsrMatrix a : List.of(grid, dense)) {
      double[] b = TestMatrices.vector(a.rows(), random);
      var c = ContractCase.dissected("bits", a, b, 1);
      var first = c.run(backend(), TaskRun.whole(c.analysis), 1);
      for (int threads : new int[] {1, 2, 3, 5}) {
        var again = c.run(backend(), TaskRun.whole(c.analysis), threads);
        for (int f = 0; f < c.analysis.fronts(); f++) {
          assertThat(TestMatrices.rowsOfR(again.fronts.get(f)))
              .as("%d threads, front %d", threads, f)
              .isEqualTo(TestMatrices.rowsOfR(first.fronts.get(f)));
          assertThat(again.fronts.get(f).rhs()).isEqualTo(first.fronts.get(f).rhs());
        }
        assertThat(again.residualSquares).isEqualTo(first.residualSquares);
      }
    }
  }

  private static SymbolicOptions natural() {
    return SymbolicOptions.defaults().withOrdering(OrderingMethod.NATURAL);
  }

  @ParameterizedTest
  @ValueSource(longs = {21, 22, 23})
  default void independentOfRowOrderColumnOrderAmalgamation(long seed) {
    var random = new Random(seed);
    CsrMatrix a = TestMatrices.sparse(320, 100, 3, random);
    double[] b = TestMatrices.vector(320, random);
    var c = new ContractCase("base", a, b, 1, natural());
    int[] order = TestMatrices.shuffle(320, random);
    double[] pb = Arrays.stream(order).mapToDouble(i -> b[i]).toArray();
    CsrMatrix pa = TestMatrices.permuteRows(a, order);
    var given = natural().withGiven(new Permutation(TestMatrices.shuffle(100, random)));
    double[][] all = {
      c.verify(c.run(backend(), TaskRun.whole(c.analysis), 1), -1),
      verified(new ContractCase("rows", pa, pb, 1, natural())),
      verified(new ContractCase("order", a, b, 1, given)),
      verified(ContractCase.dissected("dissected", a, b, 1)),
      verified(
          new ContractCase("fundamental", a, b, 1, natural().withAmalgamation(Amalgamation.none())))
    };
    for (double[] x : all) {
      double[] difference = new double[a.rows()];
      double[] ax = a.multiply(x);
      double[] ay = a.multiply(all[0]);
      Arrays.setAll(difference, i -> ax[i] - ay[i]);
      assertThat(Tolerances.norm(difference))
          .as("seed %d: A (x - y)", seed)
          .isLessThanOrEqualTo(Tolerances.of(320, 100, Tolerances.norm(b)));
    }
  }

  private double[] verified(ContractCase c) {
    return c.verify(c.run(backend(), TaskRun.whole(c.analysis), 1), -1);
  }

  @Test
  default void rowsOfTheWrongFrontAreRefused() {
    var random = new Random(2);
    CsrMatrix a = TestMatrices.sparse(100, 60, 2, random);
    var c = ContractCase.dissected("refused", a, TestMatrices.vector(100, random), 1);
    RowBlock rows = c.split().rows();
    int nf = c.analysis.fronts();
    assertThat(nf).isGreaterThan(1);
    var some = new SubtreeProblem(c.analysis, new int[] {nf - 1}, rows, List.of());
    assertThatThrownBy(() -> backend().factor(some, new FactorOptions(0, 1, 0)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("front");
  }

  @Test
  default void noFrontsNoRows() {
    CsrMatrix a = new CsrMatrix(0, 0, new int[1], new int[0], new double[0]);
    var c = ContractCase.natural("nothing", a, new double[0], 1);
    var run = c.run(backend(), TaskRun.whole(c.analysis), 1);
    assertThat(run.fronts).isEmpty();
  }
}
