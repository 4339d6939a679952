/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.error.DimensionMismatchException;
import io.sparqr.numeric.Tolerances;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.spark.model.RFactor;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.report.LeastSquaresSolution;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaRDD;
import org.junit.jupiter.api.Test;

/** The operations of a factorization after its first solution. */
class FactorizationTest {

  private static final long SEED = Long.getLong("test.seed", 20260103L);
  private static final CsrMatrix GRID = Problems.grid(12, SEED);

  private static GpuSparseQR.Builder cut(int levels) {
    return GpuSparseQR.builder()
        .ordering(OrderingMethod.NESTED_DISSECTION)
        .executors(2)
        .partitionOptions(new PartitionOptions(2, 4, levels, 0));
  }

  @Test
  void solvesFurtherRightHandSidesAlignedWithTheRows() {
    double[] b = Problems.rhs(GRID.rows(), SEED + 1);
    double[] c = Problems.rhs(GRID.rows(), SEED + 2);
    double[] d = Problems.rhs(GRID.rows(), SEED + 3);
    List<double[]> pairs =
        IntStream.range(0, c.length).mapToObj(i -> new double[] {c[i], d[i]}).toList();
    JavaRDD<double[]> aligned = LocalSpark.context().parallelize(pairs, 3);
    double[][] dense = Problems.dense(GRID);
    for (int levels = 1; levels <= 3; levels += 2) {
      try (QRFactorization f = cut(levels).factorize(Problems.rdd(GRID, 3, b))) {
        LeastSquaresSolution s = f.solve(aligned);
        assertThat(s.x(0))
            .containsExactly(Problems.solveDense(dense, c), within(Tolerances.SOLUTION));
        assertThat(s.x(1))
            .containsExactly(Problems.solveDense(dense, d), within(Tolerances.SOLUTION));
        assertThat(s.residualNorms()[1])
            .isCloseTo(
                Problems.norm(Problems.residual(GRID, s.x(1), d)), within(Tolerances.REORDERED));
      }
    }
  }

  @Test
  void solvesFurtherRightHandSidesFromRowsInAnotherOrderWithSingletonsAndRidge() {
    CsrMatrix a = Problems.random(30, 25, 3, SEED);
    double[] b = Problems.rhs(30, SEED + 1);
    double[] c = Problems.rhs(30, SEED + 2);
    List<SparseRow> shuffled = new java.util.ArrayList<>(Problems.rows(a, c));
    java.util.Collections.shuffle(shuffled, new java.util.Random(SEED));
    SparseQRSolver qr = GpuSparseQR.builder().ridge(0.25).build();
    try (QRFactorization f = qr.factorize(Problems.rdd(a, 2, b))) {
      LeastSquaresSolution s = f.solveRelabeled(LocalSpark.context().parallelize(shuffled, 4));
      LeastSquaresSolution direct = qr.solve(Problems.rdd(a, 2, c));
      assertThat(s.x())
          .as("seed %d", SEED)
          .containsExactly(direct.x(), within(Tolerances.REORDERED));
      assertThat(s.residualNorm()).isCloseTo(direct.residualNorm(), within(Tolerances.REORDERED));
      assertThat(direct.residualNorm())
          .isCloseTo(
              Problems.norm(Problems.residual(a, direct.x(), c)), within(Tolerances.REORDERED));
    }
  }

  @Test
  void anAnalysisServesEveryMatrixOfItsPatternAndNoOther() {
    CsrMatrix a = Problems.withSingletons(GRID, 4, SEED);
    double[] b = Problems.rhs(a.rows(), SEED + 1);
    double[] other = Arrays.stream(a.values()).map(v -> v * v + 0.5).toArray();
    var next = new CsrMatrix(a.rows(), a.columns(), a.rowStart(), a.columnIndex(), other);
    SymbolicAnalysis known;
    try (QRFactorization f = cut(2).factorize(Problems.rdd(a, 3, b))) {
      known = f.analysis();
    }
    GpuSparseQR.Builder reuse = cut(2).analysis(known);
    LeastSquaresSolution fresh = cut(2).solve(Problems.rdd(next, 3, b));
    LeastSquaresSolution saved = reuse.solve(Problems.rdd(next, 3, b));
    assertThat(saved.x()).isEqualTo(fresh.x());
    assertThat(saved.report().warnings()).isEmpty();
    assertThat(fresh.report().seconds().order()).isPositive();
    assertThat(saved.report().seconds().order()).isZero();
    try (QRFactorization f = reuse.factorize(Problems.rdd(next, 5, b))) {
      assertThat(f.analysis()).isSameAs(known);
      assertThat(f.standardErrors()).hasSize(a.columns()).doesNotContain(Double.NaN);
    }

    double[] hole = other.clone();
    hole[hole.length / 2] = 0;
    requireAnotherPattern(
        reuse, new CsrMatrix(a.rows(), a.columns(), a.rowStart(), a.columnIndex(), hole), b);
    int[] moved = a.columnIndex().clone();
    moved[a.rowStart()[1] - 1]++;
    requireAnotherPattern(
        reuse, new CsrMatrix(a.rows(), a.columns(), a.rowStart(), moved, other), b);
  }

  /** Checks that a matrix of another pattern than the given analysis' is analyzed and solved. */
  private static void requireAnotherPattern(GpuSparseQR.Builder reuse, CsrMatrix m, double[] b) {
    LeastSquaresSolution again = reuse.solve(Problems.rdd(m, 3, b));
    assertThat(again.report().warnings())
        .containsExactly("the given analysis is of another pattern: analyzed again");
    assertThat(again.x()).isEqualTo(cut(2).solve(Problems.rdd(m, 3, b)).x());
  }

  /** The given analysis has a singleton whose pivot is too small now: its row is no row of R. */
  @Test
  void aSingletonThatIsTooSmallForAGivenAnalysisIsAnalyzedAgain() {
    CsrMatrix a = Problems.withSingletons(GRID, 4, SEED);
    double[] b = Problems.rhs(a.rows(), SEED + 1);
    SymbolicAnalysis known;
    try (QRFactorization f = cut(2).factorize(Problems.rdd(a, 3, b))) {
      known = f.analysis();
    }
    assertThat(known.singletons()).isPositive();
    double[] small = a.values().clone();
    int column = known.permutation().original(0);
    for (int i = 0; i < a.rows(); i++) {
      for (int k = a.rowStart()[i]; k < a.rowStart()[i + 1]; k++) {
        small[k] *= a.columnIndex()[k] == column ? 1e-30 : 1;
      }
    }
    var next = new CsrMatrix(a.rows(), a.columns(), a.rowStart(), a.columnIndex(), small);
    GpuSparseQR.Builder fresh = cut(2).equilibrate(false);
    LeastSquaresSolution expected = fresh.solve(Problems.rdd(next, 3, b));
    LeastSquaresSolution found =
        cut(2).equilibrate(false).analysis(known).solve(Problems.rdd(next, 3, b));
    assertThat(found.report().warnings()).isEqualTo(expected.report().warnings());
    assertThat(found.report().warnings())
        .anyMatch(w -> w.contains("pivot below the rank tolerance"));
    assertThat(found.x()).isEqualTo(expected.x());
  }

  @Test
  void refusesRightHandSidesOfAnotherLength() {
    double[] b = Problems.rhs(GRID.rows(), SEED + 1);
    try (QRFactorization f = cut(1).factorize(Problems.rdd(GRID, 2, b))) {
      List<double[]> few = List.of(new double[] {1}, new double[] {2});
      assertThatThrownBy(() -> f.solve(LocalSpark.context().parallelize(few, 2)))
          .isInstanceOf(DimensionMismatchException.class)
          .hasMessageContaining("more rows than right-hand sides");
      assertThatThrownBy(() -> f.solve(LocalSpark.context().parallelize(few, 1)))
          .isInstanceOf(DimensionMismatchException.class)
          .hasMessageContaining("1 partitions");
    }
  }

  @Test
  void standardErrorsAreThoseOfTheInverseNormalMatrix() {
    double[] b = Problems.rhs(GRID.rows(), SEED + 1);
    for (int levels = 1; levels <= 3; levels++) {
      try (QRFactorization f = cut(levels).factorize(Problems.rdd(GRID, 2, b))) {
        checkErrors(GRID, f);
      }
    }
    CsrMatrix singletons = Problems.withSingletons(Problems.random(60, 20, 4, SEED), 5, SEED);
    double[] c = Problems.rhs(65, SEED + 2);
    try (QRFactorization f = cut(1).factorize(Problems.rdd(singletons, 2, c))) {
      assertThat(f.analysis().singletons()).as("seed %d", SEED).isPositive();
      checkErrors(singletons, f);
    }
  }

  private static void checkErrors(CsrMatrix a, QRFactorization f) {
    double[] diagonal = inverseDiagonal(a);
    double sigma = f.solve().residualNorm() / Math.sqrt(a.rows() - a.columns());
    double[] error = f.standardErrors();
    for (int j = 0; j < a.columns(); j++) {
      double expected = sigma * Math.sqrt(diagonal[j]);
      assertThat(error[j])
          .as("column %d, seed %d", j, SEED)
          .isCloseTo(expected, within(Tolerances.SOLUTION * expected));
    }
  }

  /** diag((A'A)^-1) by Gauss-Jordan. */
  private static double[] inverseDiagonal(CsrMatrix a) {
    int n = a.columns();
    double[][] dense = Problems.dense(a);
    double[][] m = new double[n][2 * n];
    for (int i = 0; i < n; i++) {
      m[i][n + i] = 1;
      for (double[] row : dense) {
        for (int j = 0; j < n; j++) {
          m[i][j] += row[i] * row[j];
        }
      }
    }
    for (int k = 0; k < n; k++) {
      double pivot = m[k][k];
      for (int j = 0; j < 2 * n; j++) {
        m[k][j] /= pivot;
      }
      for (int i = 0; i < n; i++) {
        if (i != k) {
          Problems.axpy(-m[i][k], m[k].clone(), m[i]);
        }
      }
    }
    return IntStream.range(0, n).mapToDouble(i -> m[i][n + i]).toArray();
  }

  @Test
  void theCrossProductOfRIsThatOfA() {
    CsrMatrix a = Problems.random(60, 30, 4, SEED);
    for (int levels = 1; levels <= 2; levels++) {
      try (QRFactorization f = cut(levels).factorize(Problems.rdd(a, 2, Problems.rhs(60, 1)))) {
        RFactor r = f.collectR();
        double[][] upper = Problems.dense(r.matrix());
        double[][] dense = Problems.dense(a);
        for (int i = 0; i < 30; i++) {
          for (int j = 0; j < 30; j++) {
            int p = r.permutation().position(i);
            int q = r.permutation().position(j);
            double left = 0;
            double right = 0;
            for (double[] row : upper) {
              left += row[p] * row[q];
            }
            for (double[] row : dense) {
              right += row[i] * row[j];
            }
            assertThat(left)
                .as("entry %d, %d, seed %d", i, j, SEED)
                .isCloseTo(right * r.scale()[i] * r.scale()[j], within(Tolerances.REORDERED));
          }
        }
      }
    }
  }

  @Test
  void aClosedFactorizationSaysSoAndLeavesNothing() {
    double[] b = Problems.rhs(GRID.rows(), SEED + 1);
    QRFactorization f = cut(2).factorize(Problems.rdd(GRID, 2, b));
    assertThat(f.summary().analysis().levels()).isGreaterThanOrEqualTo(2);
    assertThat(LocalSpark.context().getPersistentRDDs()).isNotEmpty();
    f.close();
    f.close();
    assertThat(LocalSpark.context().getPersistentRDDs()).isEmpty();
    assertThatThrownBy(f::solve).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(f::standardErrors).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void jobsAreDescribedAndTheCallersDescriptionComesBack() throws Exception {
    var context = LocalSpark.context();
    context.setJobGroup("mine", "my description", false);
    var seen = new java.util.concurrent.ConcurrentLinkedQueue<String>();
    var listener =
        new org.apache.spark.scheduler.SparkListener() {
          @Override
          public void onJobStart(org.apache.spark.scheduler.SparkListenerJobStart job) {
            seen.add(job.properties().getProperty("spark.job.description"));
          }
        };
    context.sc().addSparkListener(listener);
    var phases = new java.util.concurrent.ConcurrentLinkedQueue<String>();
    try {
      cut(2)
          .listener(p -> phases.add(p.phase()))
          .solve(Problems.rdd(GRID, 2, Problems.rhs(GRID.rows(), SEED)));
      context.sc().listenerBus().waitUntilEmpty();
    } finally {
      context.sc().removeSparkListener(listener);
      assertThat(context.getLocalProperty("spark.job.description")).isEqualTo("my description");
      context.clearJobGroup();
    }
    assertThat(seen).anyMatch(d -> d.matches("sparse QR: level 1 of 2, \\d+ subtrees, .*FLOP"));
    assertThat(phases).contains("pattern", "analyze", "rows", "factorize", "solve", "done");
    assertThat(Arrays.stream(phases.toArray())).first().isEqualTo("pattern");
  }
}
