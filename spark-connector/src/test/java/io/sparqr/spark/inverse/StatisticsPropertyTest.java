/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.inverse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.Sampling;
import io.sparqr.backend.cpu.CpuSubtreeFactorizer;
import io.sparqr.backend.reference.ReferenceSubtreeFactorizer;
import io.sparqr.numeric.SubtreeFactorizer;
import io.sparqr.numeric.TestMatrices;
import io.sparqr.numeric.Tolerances;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.spark.DenseStatistics;
import io.sparqr.spark.Designs;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.symbolic.Amalgamation;
import io.sparqr.symbolic.Spreads;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Standard errors of random designs against dense QR of the kept columns, over factors of the CPU
 * and of the task lists in plain Java, with the code of the product but without Spark. {@code
 * -Dsparqr.statistics.designs=100000} takes more.
 */
@Tag("numbers")
class StatisticsPropertyTest {

  private static final long SEED = Long.getLong("test.seed", 20260301L);
  private static final int DESIGNS = 4000;
  private static final String ASKED = "sparqr.statistics.designs";
  private static final OrderingMethod[] ORDERS = {
    OrderingMethod.AMD,
    OrderingMethod.COLAMD,
    OrderingMethod.NATURAL,
    OrderingMethod.NESTED_DISSECTION
  };

  /** Counts of the cases that occurred. */
  private int singletons;

  private int questions;
  private int solves;
  private int dead;
  private int tasks;
  private int withoutPivots;

  @Test
  void standardErrorsAreThoseOfTheKeptColumnsOnTheCpu() {
    run(new CpuSubtreeFactorizer(), Sampling.numbers(ASKED, DESIGNS), SEED);
  }

  @Test
  void standardErrorsAreThoseOfTheKeptColumnsByTaskLists() {
    run(new ReferenceSubtreeFactorizer(), Sampling.numbers(ASKED, DESIGNS / 2), SEED + 1);
  }

  /** Fronts without rows, whose cut once had a task without fronts. */
  @Test
  void frontsWithoutWorkMakeNoEmptyTask() {
    long seed = 20260362790533L;
    var random = new Random(seed);
    try (var cpu = new CpuSubtreeFactorizer()) {
      check(Designs.random(random), cpu, random, "design of seed " + seed);
    }
  }

  private void run(SubtreeFactorizer backend, IntStream numbers, long seed) {
    int[] all = numbers.toArray();
    int designs = all.length;
    try (backend) {
      for (int i : all) {
        long own = seed * 1_000_003L + i;
        var random = new Random(own);
        Designs.Design design = Designs.random(random);
        check(design, backend, random, "design of seed " + own);
      }
    }
    System.out.printf(
        "statistics: %d designs, %d dead columns, %d singletons, %d questions, %d of them solved"
            + " for, %d tasks, %d fronts without pivots%n",
        designs, dead, singletons, questions, solves, tasks, withoutPivots);
    assertThat(singletons).isGreaterThan(designs);
    assertThat(dead).isGreaterThan(designs);
    assertThat(questions).isGreaterThan(designs / 10);
    assertThat(solves).isGreaterThan(designs / 100).isLessThan(questions);
    assertThat(tasks).isGreaterThan(2 * designs);
    assertThat(withoutPivots).isGreaterThan(designs / 50);
  }

  private void check(Designs.Design design, SubtreeFactorizer backend, Random random, String what) {
    double[][] a = design.weighted();
    double[] b = design.weightedLabels();
    CsrMatrix matrix = TestMatrices.ofDense(a, a[0].length, false);
    SymbolicOptions symbolic =
        SymbolicOptions.defaults()
            .withOrdering(ORDERS[random.nextInt(ORDERS.length)])
            .withSingletons(random.nextInt(4) > 0);
    if (random.nextBoolean()) {
      symbolic = symbolic.withAmalgamation(Amalgamation.none());
    }
    var cut = new PartitionOptions(2, 4, 1 + random.nextInt(3), 0);
    UnaryOperator<SymbolicAnalysis> shape =
        random.nextInt(3) == 0 ? Spreads::eager : UnaryOperator.identity();
    LocalTree tree = LocalTree.factor(matrix, b, symbolic, cut, backend, shape);
    withoutPivots += Spreads.inserted(tree.plan.analysis());
    assertThat(tree.plan.partition().tasks()).as(what).allMatch(t -> t.fronts().length > 0);
    var expected = new DenseStatistics(a, b, tree.dead());
    expected.check(a, tree.unscaledErrors(), what);
    int[] drop = tree.dead();
    double[] x = tree.solve();
    for (int j : drop) {
      assertThat(x[j]).as("dead column %d, %s", j, what).isZero();
    }
    dead += drop.length;
    singletons += tree.singletons.count();
    solves += tree.forwards;
    questions += new SingletonInverse(tree.plan, tree.singletons, new int[0]).questions();
    tasks += tree.plan.partition().tasks().size();
  }

  /** Fronts and tails that several threads share, against (A'A)^-1 by Cholesky. */
  @Test
  void largeFrontsToo() {
    long seed = SEED + 7;
    var random = new Random(seed);
    int block = 330;
    int n = 3 * block;
    List<TreeMap<Integer, Double>> rows = new ArrayList<>();
    for (int i = 0; i < 3 * n; i++) {
      // columns of one of two blocks, and of a third that joins them
      int own = i % 2 * block;
      var row = new TreeMap<Integer, Double>();
      for (int k = 0; k < 5; k++) {
        row.put(own + random.nextInt(block), random.nextGaussian());
        row.put(2 * block + random.nextInt(block), random.nextGaussian());
      }
      row.put((i % 3 == 0 ? 2 * block : own) + i / 2 % block, 9.0);
      rows.add(row);
    }
    CsrMatrix a = TestMatrices.of(n, rows);
    try (var cpu = new CpuSubtreeFactorizer()) {
      var cut = new PartitionOptions(2, 3, 2, 0);
      double[] b = new double[a.rows()];
      SymbolicOptions natural =
          SymbolicOptions.defaults().withOrdering(OrderingMethod.NATURAL).withSingletons(false);
      LocalTree tree = LocalTree.factor(a, b, natural, cut, cpu);
      int large = 0;
      for (int f = 0; f < tree.plan.analysis().fronts(); f++) {
        int narrower = Math.min(tree.plan.analysis().fp(f), tree.plan.analysis().cn(f));
        large += narrower > 256 ? 1 : 0;
      }
      assertThat(large).as("fronts of many pivots and a long tail").isPositive();
      double[] alone = tree.unscaledErrors();
      tree.threads = 3;
      assertThat(tree.unscaledErrors()).as("bits").isEqualTo(alone);
      double[] expected = inverseDiagonal(a);
      for (int j = 0; j < n; j++) {
        assertThat(alone[j])
            .as("error %d, seed %d", j, seed)
            .isCloseTo(
                Math.sqrt(expected[j]), within(Tolerances.SOLUTION * Math.sqrt(expected[j])));
      }
      for (int width = 1; width <= 3; width += 2) {
        checkSolves(tree, a, width, random, "seed " + seed);
      }
    }
  }

  /** R'y = c and R w = y against A'A w = c, with one thread and with three: the same bits. */
  private static void checkSolves(
      LocalTree tree, CsrMatrix a, int width, Random random, String what) {
    int n = a.columns();
    double[] c = random.doubles((long) n * width).toArray();
    tree.threads = 1;
    double[] w = c.clone();
    tree.forward(w, width);
    tree.back(w, width);
    tree.threads = 3;
    double[] side = c.clone();
    tree.forward(side, width);
    tree.back(side, width);
    assertThat(side).as("bits, %s", what).isEqualTo(w);
    for (int q = 0; q < width; q++) {
      double[] x = new double[n];
      for (int p = 0; p < n; p++) {
        int j = tree.plan.analysis().permutation().original(p);
        x[j] = w[p * width + q] * tree.plan.columnScale(j);
      }
      double[] normal = new double[n];
      for (int i = 0; i < a.rows(); i++) {
        double sum = 0;
        for (int k = a.rowStart()[i]; k < a.rowStart()[i + 1]; k++) {
          sum += a.values()[k] * x[a.columnIndex()[k]];
        }
        for (int k = a.rowStart()[i]; k < a.rowStart()[i + 1]; k++) {
          normal[a.columnIndex()[k]] += a.values()[k] * sum;
        }
      }
      for (int p = 0; p < n; p++) {
        int j = tree.plan.analysis().permutation().original(p);
        assertThat(normal[j] * tree.plan.columnScale(j))
            .as("equation %d of %d, %s", p, q, what)
            .isCloseTo(c[p * width + q], within(Tolerances.SOLUTION));
      }
    }
  }

  /** diag((A'A)^-1) of a well-conditioned A. */
  private static double[] inverseDiagonal(CsrMatrix a) {
    int n = a.columns();
    double[][] l = new double[n][n];
    for (int i = 0; i < a.rows(); i++) {
      for (int p = a.rowStart()[i]; p < a.rowStart()[i + 1]; p++) {
        for (int q = a.rowStart()[i]; q < a.rowStart()[i + 1]; q++) {
          l[a.columnIndex()[p]][a.columnIndex()[q]] += a.values()[p] * a.values()[q];
        }
      }
    }
    // L of A'A = L L' over it, row by row.
    for (int i = 0; i < n; i++) {
      for (int j = 0; j <= i; j++) {
        double sum = l[i][j];
        for (int k = 0; k < j; k++) {
          sum -= l[i][k] * l[j][k];
        }
        l[i][j] = i == j ? Math.sqrt(sum) : sum / l[j][j];
      }
    }
    double[] diagonal = new double[n];
    for (int j = 0; j < n; j++) {
      double[] y = new double[n];
      y[j] = 1;
      for (int i = j; i < n; i++) {
        double sum = y[i];
        for (int k = j; k < i; k++) {
          sum -= l[i][k] * y[k];
        }
        y[i] = sum / l[i][i];
        diagonal[j] += y[i] * y[i];
      }
    }
    return diagonal;
  }

  /** x_i - x_{i+1}, and the last one measured k times: var(x_i) = links + 1/k. */
  @Test
  void aChainOfSingletonsCostsNothingMuch() {
    int n = 20_000;
    int measured = 4;
    List<TreeMap<Integer, Double>> rows = new ArrayList<>();
    for (int i = 0; i + 1 < n; i++) {
      rows.add(new TreeMap<>(java.util.Map.of(i, 1.0, i + 1, -1.0)));
    }
    for (int k = 0; k < measured; k++) {
      rows.add(new TreeMap<>(java.util.Map.of(n - 1, 1.0)));
    }
    CsrMatrix a = TestMatrices.of(n, rows);
    try (var cpu = new CpuSubtreeFactorizer()) {
      LocalTree tree =
          LocalTree.factor(
              a,
              new double[a.rows()],
              SymbolicOptions.defaults(),
              PartitionOptions.defaults(),
              cpu);
      assertThat(tree.singletons.count()).isEqualTo(n - 1);
      double[] errors = tree.unscaledErrors();
      assertThat(tree.forwards).isZero();
      assertThat(new SingletonInverse(tree.plan, tree.singletons, new int[0]).eliminated())
          .as("rows of R11 taken off")
          .isEqualTo(n - 1);
      for (int i = 0; i < n; i++) {
        double expected = Math.sqrt(n - 1 - i + 1.0 / measured);
        if (Math.abs(errors[i] / expected - 1) > Tolerances.SOLUTION) {
          assertThat(errors[i]).as("column %d", i).isEqualTo(expected);
        }
      }
    }
  }

  /** Two chains of grids: a condition of 1e7, whose square would leave two digits. */
  @Test
  void errorsGrowWithTheConditionNotWithItsSquare() {
    for (int s : Sampling.numbers(20).toArray()) {
      var random = new Random(SEED + s);
      int n = 24;
      List<TreeMap<Integer, Double>> rows = new ArrayList<>();
      for (int i = 0; i < n; i++) {
        for (int k = 0; k < 3; k++) {
          var row = new TreeMap<Integer, Double>();
          row.put(i, 1.0);
          row.put((i + 1) % n, -1.0 + 1e-7 * random.nextGaussian());
          rows.add(row);
        }
      }
      CsrMatrix a = TestMatrices.of(n, rows);
      double[] b = TestMatrices.vector(a.rows(), random);
      var symbolic =
          SymbolicOptions.defaults()
              .withOrdering(OrderingMethod.NESTED_DISSECTION)
              .withAmalgamation(Amalgamation.none());
      try (var cpu = new CpuSubtreeFactorizer()) {
        LocalTree tree = LocalTree.factor(a, b, symbolic, new PartitionOptions(2, 4, 2, 0), cpu);
        double[][] dense = io.sparqr.spark.Problems.dense(a);
        var expected = new DenseStatistics(dense, b, tree.dead());
        assertThat(expected.condition).as("seed %d", SEED + s).isBetween(1e6, 1e10);
        expected.check(dense, tree.unscaledErrors(), "seed " + (SEED + s));
      }
    }
  }
}
