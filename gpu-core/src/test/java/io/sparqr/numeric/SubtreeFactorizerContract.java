/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.matrix.Gallery;
import io.sparqr.ordering.NestedDissection;
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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The contract of every backend. A backend's test extends this class and supplies its factorizer.
 */
public abstract class SubtreeFactorizerContract {

  /** Sizes around those of a warp, a tile and three tiles. */
  private static final int[] EDGES = {1, 2, 31, 32, 33, 63, 64, 65, 95, 96, 97};

  private SubtreeFactorizer backend;

  /** A fresh factorizer; the contract closes it. */
  protected abstract SubtreeFactorizer create();

  /** Whether the backend solves where R is, if only x is wanted. */
  protected boolean solves() {
    return false;
  }

  @BeforeEach
  final void open() {
    backend = create();
  }

  @AfterEach
  final void close() {
    backend.close();
  }

  private static SymbolicOptions natural() {
    return SymbolicOptions.defaults().withOrdering(OrderingMethod.NATURAL);
  }

  private static SymbolicOptions dissected(CsrMatrix a) {
    return SymbolicOptions.defaults().withGiven(new NestedDissection().order(a.pattern()));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 31, 32, 33, 63, 64, 65, 95, 96, 97})
  void denseFrontsOfAllShapes(int n) {
    for (int m : EDGES) {
      var random = new Random(1000L * m + n);
      var c =
          ContractCase.natural(
              "dense " + m + " x " + n,
              TestMatrices.dense(m, n, random),
              TestMatrices.vector(m, random),
              1);
      c.verify(c.run(backend, TaskRun.whole(c.analysis), 1), Math.min(m, n));
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
  void sparseMatricesWholeAndCut(long seed) {
    var random = new Random(seed);
    int n = 20 + random.nextInt(150);
    int m = n / 2 + random.nextInt(3 * n);
    CsrMatrix a = TestMatrices.sparse(m, n, 1 + random.nextInt(4), random);
    var c = new ContractCase("seed " + seed, a, TestMatrices.vector(m, random), 1, dissected(a));
    double[] x = c.verify(c.run(backend, TaskRun.whole(c.analysis), 2), -1);
    double[] y = c.verify(c.run(backend, TaskRun.single(c.analysis), 1), -1);
    double[] z = c.verify(c.run(backend, TaskRun.subtrees(c.analysis, 4), 2), -1);
    // Cut or whole, the same fronts get the same rows in the same order.
    assertThat(y).as("seed %d: every front a task", seed).containsExactly(x);
    assertThat(z).as("seed %d: subtrees", seed).containsExactly(x);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 3})
  void rightHandSides(int nrhs) {
    var random = new Random(5);
    CsrMatrix a = TestMatrices.sparse(260, 90, 3, random);
    var c =
        new ContractCase(
            nrhs + " rhs", a, TestMatrices.vector(260 * nrhs, random), nrhs, dissected(a));
    double[] x = c.verify(c.run(backend, TaskRun.subtrees(c.analysis, 3), 1), -1);
    assertThat(x).hasSize(90 * nrhs);
  }

  @Test
  void solutionsAlone() {
    for (int[] size : new int[][] {{1, 1}, {40, 33}, {300, 290}, {700, 520}}) {
      var random = new Random(size[0]);
      CsrMatrix a = TestMatrices.dense(size[0], size[1], random);
      var c = ContractCase.natural("dense " + size[0], a, TestMatrices.vector(size[0], random), 1);
      assertThat(c.verifySolution(backend, 2)).as(c.name).isEqualTo(solves());
    }
    for (long seed = 1; seed <= 12; seed++) {
      var random = new Random(seed);
      int nrhs = 1 + random.nextInt(3);
      int n = 20 + random.nextInt(300);
      CsrMatrix a = TestMatrices.sparse(4 * n, n, 1 + random.nextInt(4), random);
      double[] b = TestMatrices.vector(a.rows() * nrhs, random);
      new ContractCase("seed " + seed, a, b, nrhs, dissected(a)).verifySolution(backend, 2);
    }
    CsrMatrix grid = Gallery.generate("gen:cells2d40");
    double[] b = TestMatrices.vector(2 * grid.rows(), new Random(7));
    var c = new ContractCase("grid", grid, b, 2, dissected(grid));
    assertThat(c.verifySolution(backend, 3)).as(c.name).isEqualTo(solves());
  }

  @Test
  void solutionsAloneOfDeadColumnsComeAsR() {
    var random = new Random(9);
    CsrMatrix a = TestMatrices.dense(30, 60, random);
    var c = ContractCase.natural("wide", a, TestMatrices.vector(30, random), 1);
    assertThat(c.verifySolution(backend, 2)).isFalse();
  }

  /** R where it was made solves R'R x = c, as the R that was returned would. */
  @Test
  void laterSolves() {
    for (int[] size : new int[][] {{1, 1}, {40, 33}, {300, 290}, {700, 520}}) {
      var random = new Random(size[0]);
      CsrMatrix a = TestMatrices.dense(size[0], size[1], random);
      var c = ContractCase.natural("dense " + size[0], a, TestMatrices.vector(size[0], random), 1);
      assertThat(c.verifyLater(backend, 2, 2, random)).as(c.name).isEqualTo(solves());
    }
    for (long seed = 1; seed <= 12; seed++) {
      var random = new Random(seed);
      int nrhs = random.nextInt(3);
      int n = 20 + random.nextInt(300);
      CsrMatrix a = TestMatrices.sparse(4 * n, n, 1 + random.nextInt(4), random);
      double[] b = TestMatrices.vector(a.rows() * nrhs, random);
      new ContractCase("seed " + seed, a, b, nrhs, dissected(a))
          .verifyLater(backend, 2, 1 + random.nextInt(3), random);
    }
    CsrMatrix grid = Gallery.generate("gen:cells2d40");
    var random = new Random(7);
    double[] b = TestMatrices.vector(2 * grid.rows(), random);
    var c = new ContractCase("grid", grid, b, 2, dissected(grid));
    assertThat(c.verifyLater(backend, 3, 1, random)).as(c.name).isEqualTo(solves());
  }

  @Test
  void deadColumnsDoNotStay() {
    var random = new Random(9);
    CsrMatrix a = TestMatrices.dense(30, 60, random);
    var c = ContractCase.natural("wide", a, TestMatrices.vector(30, random), 1);
    assertThat(c.verifyLater(backend, 2, 1, random)).isFalse();
  }

  @Test
  void staircases() {
    for (int[] size : new int[][] {{70, 50}, {300, 100}, {50, 90}, {1000, 130}}) {
      var random = new Random(size[0]);
      CsrMatrix a = TestMatrices.staircase(size[0], size[1], random);
      var c =
          ContractCase.natural("staircase " + size[0], a, TestMatrices.vector(size[0], random), 1);
      c.verify(c.run(backend, TaskRun.whole(c.analysis), 1), -1);
    }
  }

  @Test
  void farMoreRowsThanColumns() {
    var random = new Random(11);
    CsrMatrix a = TestMatrices.dense(20_000, 33, random);
    var c = ContractCase.natural("tall", a, TestMatrices.vector(20_000, random), 1);
    c.verify(c.run(backend, TaskRun.whole(c.analysis), 1), 33);
  }

  @Test
  void fartherStillSoThatRowsComeInChunks() {
    var random = new Random(17);
    CsrMatrix a = TestMatrices.incidence(130_000, 90, random);
    var c = ContractCase.natural("edges", a, TestMatrices.vector(130_000, random), 1);
    long tallest = 0;
    for (int f = 0; f < c.analysis.fronts(); f++) {
      tallest = Math.max(tallest, c.analysis.fm(f) * c.analysis.fn(f));
    }
    assertThat(tallest).isGreaterThan(1L << 23);
    c.verify(c.run(backend, TaskRun.whole(c.analysis), 2), 89);
  }

  @Test
  void emptyRowsAndColumns() {
    var random = new Random(3);
    double[][] a = new double[40][30];
    for (int i = 0; i < 40; i++) {
      for (int j = 0; j < 30; j++) {
        boolean there = i % 7 != 3 && j % 9 != 4 && random.nextInt(3) == 0;
        a[i][j] = there ? random.nextGaussian() : 0;
      }
    }
    var c =
        ContractCase.natural(
            "empty", TestMatrices.ofDense(a, 30, false), TestMatrices.vector(40, random), 1);
    var run = c.run(backend, TaskRun.whole(c.analysis), 1);
    c.verify(run, -1);
    assertThat(run.factorization(c.ones(), c.tolerance, 1).deadColumns()).contains(4, 13, 22);
  }

  @Test
  void oneRowOneColumn() {
    var random = new Random(4);
    for (int[] size : new int[][] {{1, 1}, {1, 40}, {40, 1}, {3, 200}}) {
      CsrMatrix a = TestMatrices.dense(size[0], size[1], random);
      var c = ContractCase.natural("thin", a, TestMatrices.vector(size[0], random), 1);
      c.verify(c.run(backend, TaskRun.whole(c.analysis), 1), Math.min(size[0], size[1]));
    }
  }

  @Test
  void repeatedColumnsAreTheDeadOnes() {
    var random = new Random(6);
    int n = 100;
    double[][] a = new double[150][n];
    for (double[] row : a) {
      for (int j = 0; j < n; j++) {
        row[j] = random.nextGaussian();
      }
      row[5] = row[2];
      row[31] = 0;
      row[32] = row[0] - row[3];
      row[64] = 3 * row[63];
      row[99] = row[98];
    }
    var c =
        ContractCase.natural(
            "repeated", TestMatrices.ofDense(a, n, true), TestMatrices.vector(150, random), 1);
    var run = c.run(backend, TaskRun.whole(c.analysis), 1);
    c.verify(run, n - 5);
    assertThat(run.factorization(c.ones(), c.tolerance, 1).deadColumns())
        .containsExactly(5, 31, 32, 64, 99);
    assertThat(run.summary.droppedNorm()).isLessThanOrEqualTo(Math.sqrt(5) * c.tolerance);
  }

  @Test
  void whatRankDetectionDropsIsAddedUpOverColumnsAndFronts() {
    // Row 1 of each block is 1 in all of its columns, row j has column j's remainder alone.
    double[][] remainders = {{3e-10}, {4e-10}, {12e-10, 84e-10}};
    double[][] a = new double[7][7];
    int at = 0;
    for (double[] block : remainders) {
      int first = at;
      for (int j = 0; j <= block.length; j++, at++) {
        a[first][at] = 1;
        if (j > 0) {
          a[at][at] = block[j - 1];
        }
      }
    }
    var c = ContractCase.natural("dropped", TestMatrices.ofDense(a, 7, false), new double[7], 1);
    assertThat(c.analysis.fronts()).isGreaterThan(1);
    var options = new FactorOptions(1e-7, 1, 0);
    var run =
        TaskRun.run(backend, c.analysis, c.split().rows(), TaskRun.whole(c.analysis), options);
    assertThat(run.factorization(c.ones(), 1e-7, 1).deadColumns()).containsExactly(1, 3, 5, 6);
    assertThat(run.summary.droppedNorm()).isCloseTo(85e-10, within(1e-18));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 7, 31, 32, 33, 60})
  void productsOfLowRank(int rank) {
    var random = new Random(rank);
    CsrMatrix a = TestMatrices.ofRank(130, 80, rank, random);
    var c = ContractCase.natural("rank " + rank, a, TestMatrices.vector(130, random), 1);
    c.verify(c.run(backend, TaskRun.whole(c.analysis), 1), rank);
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

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6})
  void blocksOfManyChildrenReducedInATree(long seed) {
    var random = new Random(seed);
    boolean dummies = seed % 2 == 0;
    int shared = 3 + random.nextInt(seed < 5 ? 10 : 40);
    CsrMatrix a = star(150 + random.nextInt(300), shared, dummies, random);
    double[] b = TestMatrices.vector(2 * a.rows(), random);
    var options = SymbolicOptions.defaults().withOrdering(OrderingMethod.NATURAL);
    var plain = new ContractCase("star " + seed, a, b, 2, options.withReduction(Reduction.none()));
    int rank =
        plain
            .run(backend, TaskRun.whole(plain.analysis), 1)
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
      c.verify(c.run(backend, tasks, 2), rank);
    }
    c.verifyKeptQ(backend, TaskRun.subtrees(c.analysis, 40), 1);
  }

  @Test
  void incidenceMatrices() {
    for (long seed = 1; seed <= 5; seed++) {
      var random = new Random(seed);
      CsrMatrix a = TestMatrices.incidence(300, 120, random);
      var c =
          new ContractCase(
              "incidence " + seed, a, TestMatrices.vector(300, random), 1, dissected(a));
      c.verify(c.run(backend, TaskRun.whole(c.analysis), 2), 119);
      c.verify(c.run(backend, TaskRun.single(c.analysis), 1), 119);
    }
  }

  @Test
  void deadColumnsLeaveMoreRowsToTheParent() {
    // Blocks share their last columns; in each, all but one of its own columns are equal, so that
    // contribution blocks have more rows than the pattern predicts.
    var random = new Random(9);
    double[][] a = new double[60][26];
    for (int i = 0; i < 60; i++) {
      int block = i / 20;
      double equal = random.nextGaussian();
      for (int j = 0; j < 6; j++) {
        a[i][6 * block + j] = j == 5 ? random.nextGaussian() : equal;
      }
      for (int j = 18; j < 26; j++) {
        a[i][j] = random.nextGaussian();
      }
    }
    var c =
        ContractCase.natural(
            "dead", TestMatrices.ofDense(a, 26, false), TestMatrices.vector(60, random), 1);
    assertThat(c.analysis.fronts()).isGreaterThan(1);
    c.verify(c.run(backend, TaskRun.whole(c.analysis), 1), 14);
    c.verify(c.run(backend, TaskRun.single(c.analysis), 1), 14);
  }

  @Test
  void withoutDetectionEveryColumnWithARowIsLive() {
    var random = new Random(12);
    CsrMatrix a = TestMatrices.ofRank(60, 40, 10, random);
    var c = ContractCase.natural("off", a, TestMatrices.vector(60, random), 1);
    var run =
        TaskRun.run(
            backend,
            c.analysis,
            c.split().rows(),
            TaskRun.whole(c.analysis),
            new FactorOptions(-1, 1, 0));
    assertThat(run.factorization(c.ones(), -1, 1).rank()).isEqualTo(40);
  }

  @Test
  void hugeAndTinyValues() {
    var random = new Random(8);
    CsrMatrix a = TestMatrices.sparse(400, 150, 4, random);
    double[] b = TestMatrices.vector(400, random);
    var c = new ContractCase("unit", a, b, 1, dissected(a));
    double[][] r = c.run(backend, TaskRun.whole(c.analysis), 1).denseR();
    double limit = Tolerances.of(400, 150, Tolerances.frobenius(a));
    for (double s : new double[] {1e154, 1e-160, 1e290, 1e-290}) {
      var scaled = new ContractCase("scale " + s, TestMatrices.scale(a, s), b, 1, dissected(a));
      var run = scaled.run(backend, TaskRun.whole(scaled.analysis), 1);
      double[][] rs = run.denseR();
      for (int i = 0; i < 150; i++) {
        for (int j = i; j < 150; j++) {
          assertThat(rs[i][j] / s)
              .as("scale %s: R %d %d", s, i, j)
              .isCloseTo(r[i][j], within(limit));
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(doubles = {0, 0.5, 1, 1.25, 1.5, 2, 3, 5, 8})
  void columnsFromFarToNearlyDependent(double digits) {
    // Pairs of columns that agree to a number of digits; some tiles also have a column of zeros,
    // or one that is tiny beside the others.
    double angle = Math.pow(10, -digits);
    for (int[] size : new int[][] {{64, 32}, {300, 70}, {128, 128}, {1000, 96}}) {
      int m = size[0];
      int n = size[1];
      var random = new Random(7L * m + n);
      double[][] values = new double[m][n];
      for (double[] row : values) {
        for (int j = 0; j < n; j++) {
          double noise = random.nextGaussian();
          row[j] = j % 2 == 1 ? row[j - 1] + angle * noise : noise;
        }
        row[n / 2 + 5] = 0;
        row[n - 10] *= 1e-6;
      }
      CsrMatrix a = TestMatrices.ofDense(values, n, true);
      var c =
          ContractCase.natural(
              "pairs that differ by " + angle + ", " + m + " x " + n,
              a,
              TestMatrices.vector(m, random),
              1);
      c.verify(c.run(backend, TaskRun.whole(c.analysis), 1), n - 1);
    }
  }

  @Test
  void subnormalColumnsLeaveNormsAsTheyAre() {
    // Like rounding errors of rounding errors in rank-deficient problems.
    for (int[] size : new int[][] {{3, 1}, {3, 2}, {40, 12}, {120, 70}, {300, 150}}) {
      int m = size[0];
      int n = size[1];
      var random = new Random(31L * m + n);
      double[][] values = new double[m][n];
      for (double[] row : values) {
        for (int j = 0; j < n; j++) {
          row[j] =
              switch (j % 3) {
                case 0 -> (1 + random.nextInt(9)) * Double.MIN_VALUE;
                case 1 -> random.nextGaussian();
                default -> random.nextGaussian() * 0x1p-1030;
              };
        }
      }
      CsrMatrix a = TestMatrices.ofDense(values, n, true);
      double[] b = TestMatrices.vector(m, random);
      var c = ContractCase.natural("subnormal " + m + " x " + n, a, b, 1);
      var options = new FactorOptions(-1, 1, 0);
      var run =
          TaskRun.run(backend, c.analysis, c.split().rows(), TaskRun.whole(c.analysis), options);
      double squares = run.residualSquares[0];
      for (FrontFactor f : run.fronts) {
        for (double q : f.rhs()) {
          squares += q * q;
        }
      }
      assertThat(Math.sqrt(squares))
          .as("%s: ||Q'b||", c.name)
          .isCloseTo(Tolerances.norm(b), within(Tolerances.of(m, n, Tolerances.norm(b))));
      c.checkGram(run.denseR(), Tolerances.frobenius(a));
    }
  }

  @Test
  void sameBitsWheneverAndWithHoweverManyThreads() {
    CsrMatrix grid = Gallery.generate("gen:cells2d60");
    var random = new Random(13);
    CsrMatrix dense = TestMatrices.dense(700, 420, random);
    for (CsrMatrix a : List.of(grid, dense)) {
      double[] b = TestMatrices.vector(a.rows(), random);
      var c = new ContractCase("bits", a, b, 1, dissected(a));
      var first = c.run(backend, TaskRun.whole(c.analysis), 1);
      for (int threads : new int[] {1, 2, 3, 5}) {
        var again = c.run(backend, TaskRun.whole(c.analysis), threads);
        for (int f = 0; f < c.analysis.fronts(); f++) {
          assertThat(TestMatrices.rowsOfR(again.fronts.get(f)))
              .as("%d threads, front %d", threads, f)
              .containsExactly(TestMatrices.rowsOfR(first.fronts.get(f)));
          assertThat(again.fronts.get(f).rhs()).containsExactly(first.fronts.get(f).rhs());
        }
        assertThat(again.residualSquares).containsExactly(first.residualSquares);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {21, 22, 23})
  void independentOfRowOrderColumnOrderAmalgamation(long seed) {
    var random = new Random(seed);
    CsrMatrix a = TestMatrices.sparse(320, 100, 3, random);
    double[] b = TestMatrices.vector(320, random);
    var c = new ContractCase("base", a, b, 1, natural());
    int[] order = TestMatrices.shuffle(320, random);
    double[] pb = Arrays.stream(order).mapToDouble(i -> b[i]).toArray();
    CsrMatrix pa = TestMatrices.permuteRows(a, order);
    var given = natural().withGiven(new Permutation(TestMatrices.shuffle(100, random)));
    double[][] all = {
      c.verify(c.run(backend, TaskRun.whole(c.analysis), 1), -1),
      verified(new ContractCase("rows", pa, pb, 1, natural())),
      verified(new ContractCase("order", a, b, 1, given)),
      verified(new ContractCase("dissected", a, b, 1, dissected(a))),
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
    return c.verify(c.run(backend, TaskRun.whole(c.analysis), 1), -1);
  }

  @Test
  void rowsOfTheWrongFrontAreRefused() {
    var random = new Random(2);
    CsrMatrix a = TestMatrices.sparse(100, 60, 2, random);
    var c = new ContractCase("refused", a, TestMatrices.vector(100, random), 1, dissected(a));
    RowBlock rows = c.split().rows();
    int nf = c.analysis.fronts();
    assertThat(nf).isGreaterThan(1);
    var some = new SubtreeProblem(c.analysis, new int[] {nf - 1}, rows, List.of());
    assertThatThrownBy(() -> backend.factor(some, new FactorOptions(0, 1, 0)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("front");
  }

  @Test
  void noFrontsNoRows() {
    CsrMatrix a = new CsrMatrix(0, 0, new int[1], new int[0], new double[0]);
    var c = ContractCase.natural("nothing", a, new double[0], 1);
    var run = c.run(backend, TaskRun.whole(c.analysis), 1);
    assertThat(run.fronts).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(longs = {31, 32, 33, 34, 35, 36})
  void keptReflectorsGiveQTransposedTimesAnyRightHandSide(long seed) {
    var random = new Random(seed);
    int n = 20 + random.nextInt(150);
    int m = n / 2 + random.nextInt(3 * n);
    CsrMatrix a = TestMatrices.sparse(m, n, 1 + random.nextInt(4), random);
    var c = new ContractCase("seed " + seed, a, TestMatrices.vector(m, random), 1, dissected(a));
    c.verifyKeptQ(backend, TaskRun.whole(c.analysis), 2);
    c.verifyKeptQ(backend, TaskRun.single(c.analysis), 1);
    c.verifyKeptQ(backend, TaskRun.subtrees(c.analysis, 4), 2);
  }

  @Test
  void keptReflectorsOfFrontsOfManyShapes() {
    for (int m : new int[] {1, 31, 33, 96, 300}) {
      for (int n : new int[] {1, 32, 65, 150}) {
        var random = new Random(1000L * m + n);
        CsrMatrix a = TestMatrices.dense(m, n, random);
        for (int nrhs : new int[] {0, 1, 3}) {
          double[] b = TestMatrices.vector(m * nrhs, random);
          ContractCase.natural(m + " x " + n + ", " + nrhs + " rhs", a, b, nrhs)
              .verifyKeptQ(backend, new int[1], 2);
        }
      }
    }
    var random = new Random(77);
    CsrMatrix stairs = TestMatrices.staircase(300, 100, random);
    var c = ContractCase.natural("staircase", stairs, TestMatrices.vector(300, random), 1);
    c.verifyKeptQ(backend, TaskRun.whole(c.analysis), 1);
  }

  @Test
  void keptReflectorsWithDeadAndEmptyColumns() {
    for (int rank : new int[] {1, 7, 33}) {
      var random = new Random(rank);
      CsrMatrix a = TestMatrices.ofRank(130, 80, rank, random);
      var c = ContractCase.natural("rank " + rank, a, TestMatrices.vector(130, random), 1);
      c.verifyKeptQ(backend, TaskRun.whole(c.analysis), 1);
    }
    for (long seed = 1; seed <= 3; seed++) {
      var random = new Random(seed);
      CsrMatrix a = TestMatrices.incidence(300, 120, random);
      var c =
          new ContractCase(
              "incidence " + seed, a, TestMatrices.vector(300, random), 1, dissected(a));
      c.verifyKeptQ(backend, TaskRun.whole(c.analysis), 2);
      c.verifyKeptQ(backend, TaskRun.single(c.analysis), 1);
    }
    var random = new Random(3);
    double[][] holes = new double[40][30];
    for (int i = 0; i < 40; i++) {
      for (int j = 0; j < 30; j++) {
        boolean there = i % 7 != 3 && j % 9 != 4 && random.nextInt(3) == 0;
        holes[i][j] = there ? random.nextGaussian() : 0;
      }
    }
    CsrMatrix a = TestMatrices.ofDense(holes, 30, false);
    var c = ContractCase.natural("empty", a, TestMatrices.vector(40, random), 1);
    c.verifyKeptQ(backend, TaskRun.whole(c.analysis), 1);
  }
}
