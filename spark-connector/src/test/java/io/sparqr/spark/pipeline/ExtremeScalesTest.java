/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.pipeline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.Sampling;
import io.sparqr.error.NonFiniteSolutionException;
import io.sparqr.error.NonFiniteValueException;
import io.sparqr.numeric.Tolerances;
import io.sparqr.spark.GpuSparseQR;
import io.sparqr.spark.LocalSpark;
import io.sparqr.spark.factorization.FactorState;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.report.LeastSquaresSolution;
import io.sparqr.spark.report.ProgressListener;
import io.sparqr.spark.rows.RowSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Columns and right-hand sides from the least denormal number to 2^1000, without Spark and on it: a
 * power of two times a column is the inverse times its coefficient and its error, to the bit.
 */
class ExtremeScalesTest {

  private static final long SEED = Long.getLong("test.seed", 20261127L);
  private static final int ITERATIONS = Integer.getInteger("test.iters", Sampling.WHOLE ? 6 : 2);
  private static final int M = 14;
  private static final int N = 6;

  /** Small integers: they times any power of two down to the least one are exact. */
  private record Case(int[][] a, int[] b, int[] columnExponent, int rhsExponent) {

    List<SparseRow> rows(boolean scaled) {
      List<SparseRow> rows = new ArrayList<>();
      for (int i = 0; i < a.length; i++) {
        int count = 0;
        int[] index = new int[N];
        double[] value = new double[N];
        for (int j = 0; j < N; j++) {
          if (a[i][j] != 0) {
            index[count] = j;
            value[count++] = Math.scalb((double) a[i][j], scaled ? columnExponent[j] : 0);
          }
        }
        double label = Math.scalb((double) b[i], scaled ? rhsExponent : 0);
        rows.add(
            new SparseRow(
                Arrays.copyOf(index, count),
                Arrays.copyOf(value, count),
                new double[] {label},
                1,
                N));
      }
      return rows;
    }

    double[] expected(double[] x, int ofRhs) {
      double[] y = new double[N];
      for (int j = 0; j < N; j++) {
        y[j] = Math.scalb(x[j], ofRhs - columnExponent[j]);
      }
      return y;
    }
  }

  /** A case whose coefficients stay in the range of normal numbers. */
  private static Case draw(Random random) {
    int[][] a = new int[M][N];
    int[] b = new int[M];
    for (int i = 0; i < M; i++) {
      b[i] = 1 + random.nextInt(7);
      for (int j = 0; j < N; j++) {
        a[i][j] = random.nextInt(3) == 0 ? 0 : random.nextInt(15) - 7;
      }
    }
    for (int j = 0; j < N; j++) {
      a[j][j] = 20 + j;
    }
    // a column singleton
    for (int i = 1; i < M; i++) {
      a[i][0] = 0;
    }
    int f = -900 + random.nextInt(1900);
    int[] e = new int[N];
    for (int j = 0; j < N; j++) {
      int low = Math.max(-1074, f - 900);
      int high = Math.min(1000, f + 900);
      e[j] = low + random.nextInt(high - low + 1);
    }
    return new Case(a, b, e, f);
  }

  private static RowSource source(List<SparseRow> rows, boolean spark) {
    return spark
        ? RowSource.of(LocalSpark.context().parallelize(rows, 2))
        : RowSource.local(
            2, p -> rows.subList(p * rows.size() / 2, (p + 1) * rows.size() / 2).iterator());
  }

  private static FactorState factorize(
      List<SparseRow> rows, boolean spark, GpuSparseQR.Builder builder) {
    return Pipeline.factorize(
        source(rows, spark), builder.build().options(), ProgressListener.NONE);
  }

  /** Bits where all numbers are normal; a norm of denormal numbers has few digits. */
  private static void same(Case c, double[] expected, double[] actual, int bits, String what) {
    for (int j = 0; j < N; j++) {
      boolean denormal = c.columnExponent[j] < -1000;
      double far = denormal || bits > 0 ? Math.max(bits, 1000) * Math.ulp(expected[j]) : 0;
      assertThat(Math.abs(actual[j] - expected[j]))
          .as("%s, column %d of 2^%d, seed %d", what, j, c.columnExponent[j], SEED)
          .isLessThanOrEqualTo(far);
    }
  }

  private static boolean normal(Case c) {
    return Arrays.stream(c.columnExponent).allMatch(e -> e >= -1000);
  }

  @Test
  void powersOfTwoOfColumnsAndRightHandSidesScaleEverythingExactly() {
    var random = new Random(SEED);
    for (int it = 0; it < ITERATIONS; it++) {
      Case c = draw(random);
      int bits = normal(c) ? 0 : 1000;
      for (boolean spark : new boolean[] {false, true}) {
        for (int steps : new int[] {0, 2}) {
          GpuSparseQR.Builder how = GpuSparseQR.builder().refinement(steps).check(true);
          try (FactorState plain = factorize(c.rows(false), spark, how);
              FactorState far = factorize(c.rows(true), spark, how)) {
            String what = "case %d, spark %b, %d steps".formatted(it, spark, steps);
            assertThat(far.rank()).as(what).isEqualTo(N);
            LeastSquaresSolution x = plain.solve();
            LeastSquaresSolution y = far.solve();
            // a step's corrections are rounding errors, which the denormal norms change
            int off = steps == 0 ? bits : 1000;
            same(c, c.expected(x.x(), c.rhsExponent), y.x(), off, what);
            assertThat(Math.scalb(y.residualNorm(), -c.rhsExponent))
                .as(what)
                .isCloseTo(x.residualNorm(), Offset.offset(Tolerances.ofResidual(1, 100)));
            assertThat(y.report().residual().normalResidual())
                .as(what)
                .isLessThan(10 * Tolerances.NORMAL_RESIDUAL);
            // of other right-hand sides, by the semi-normal equations
            LeastSquaresSolution other = far.solveFurther(source(c.rows(true), spark));
            same(c, c.expected(x.x(), c.rhsExponent), other.x(), 100_000, what + ", further");
            if (spark && normal(c)) {
              double[] errors = plain.unscaledErrors();
              same(c, c.expected(errors, 0), far.unscaledErrors(), bits, what + ", errors");
            }
          }
        }
      }
    }
  }

  private static List<SparseRow> dense(double[][] a, double[] b) {
    List<SparseRow> rows = new ArrayList<>();
    for (int i = 0; i < a.length; i++) {
      int[] index = new int[a[i].length];
      Arrays.setAll(index, j -> j);
      rows.add(new SparseRow(index, a[i], new double[] {b[i]}, 1, a[i].length));
    }
    return rows;
  }

  @ParameterizedTest
  @ValueSource(doubles = {1e-310, 1e-321})
  void aCoefficientBeyondTheRangeIsAnErrorThatNamesItsColumn(double tiny) {
    double[][] a = {{1, 3 * tiny}, {2, tiny}, {1, 0}};
    double[] b = {1, 2, 5};
    for (boolean spark : new boolean[] {false, true}) {
      List<SparseRow> rows = dense(a, b);
      for (GpuSparseQR.Builder how :
          List.of(GpuSparseQR.builder(), GpuSparseQR.builder().keepQ(true))) {
        try (FactorState f = factorize(rows, spark, how)) {
          assertThat(f.rank()).isEqualTo(2);
          names(f::solve, "x of column 1 would be about ", "e+3");
          if (spark) {
            names(() -> f.solveAligned(source(rows, true)), "column 1", "range of doubles");
            names(f::unscaledErrors, "the standard error of column 1 would be about ", "e+3");
          }
        }
      }
      try (FactorState f = factorize(rows, spark, GpuSparseQR.builder())) {
        names(() -> f.solveFurther(source(rows, spark)), "column 1", "range of doubles");
      }
    }
  }

  /** The least numbers that there are have columns like any others. */
  @Test
  void columnsOfDenormalNumbersAreIndependent() {
    double u = Double.MIN_VALUE;
    double[][] a = {{256 * u, 0}, {-256 * u, 512 * u}, {0, 256 * u}, {u, u}};
    List<SparseRow> rows = dense(a, new double[] {3 * u, u, 0, 2 * u});
    for (boolean spark : new boolean[] {false, true}) {
      try (FactorState f = factorize(rows, spark, GpuSparseQR.builder())) {
        assertThat(f.rank()).isEqualTo(2);
        assertThat(f.solveFurther(source(rows, spark)).x()[0])
            .isCloseTo(f.solve().x()[0], Offset.offset(2.0 / 256));
      }
    }
  }

  @Test
  void theMinimumNormOverflowsWithAnError() {
    var rows =
        LocalSpark.context()
            .parallelize(dense(new double[][] {{3e-310, 1e-310}}, new double[] {1}), 1);
    names(
        () -> GpuSparseQR.builder().minimumNorm(true).solve(rows), "column 0", "range of doubles");
  }

  @Test
  void aRidgeKeepsATinyColumnInRange() {
    // the ridge is all that there is of the column: x_1 = 3e-310 / (1 + 9e-620)
    double[][] a = {{1, 3e-310}, {0, 0}};
    for (boolean spark : new boolean[] {false, true}) {
      List<SparseRow> rows = dense(a, new double[] {1, 0});
      try (FactorState f = factorize(rows, spark, GpuSparseQR.builder().ridge(1))) {
        double[] x = f.solve().x();
        assertThat(x[0]).isEqualTo(0.5, Offset.offset(Tolerances.roundings(8, 0.5)));
        assertThat(x[1]).isCloseTo(0, Offset.offset(Double.MIN_NORMAL));
      }
    }
  }

  /** SuiteSparse divides by the pivot as well; what it gives back as NaN is an error here. */
  @Test
  void withoutRankDetectionADeficientMatrixGivesAFiniteAnswerOrAnErrorThatNamesADependentColumn() {
    var random = new Random(SEED);
    for (int it = 0; it < 20; it++) {
      // columns 0 and 1 are equal but for a power of two, column 3 is independent of all
      double[][] a = new double[8][4];
      double[] b = new double[8];
      for (int i = 0; i < a.length; i++) {
        a[i][0] = 1 + random.nextInt(it % 3 + 1);
        a[i][1] = 2 * a[i][0];
        a[i][2] = random.nextInt(9) - 4;
        a[i][3] = random.nextInt(9) - 4;
        b[i] = random.nextInt(9);
      }
      for (boolean further : new boolean[] {false, true}) {
        List<SparseRow> rows = dense(a, b);
        GpuSparseQR.Builder off = GpuSparseQR.builder().rankTolerance(-1);
        try (FactorState f = factorize(rows, false, off)) {
          double[] x = (further ? f.solveFurther(source(rows, false)) : f.solve()).x();
          assertThat(Arrays.stream(x).allMatch(Double::isFinite)).isTrue();
        } catch (NonFiniteSolutionException e) {
          if (!further) {
            assertThat(e).hasMessageStartingWith("x is not finite from column ");
            assertThat(e.column().orElseThrow()).as("seed %d, case %d", SEED, it).isIn(0, 1);
          }
          assertThat(e).hasMessageContaining("rank detection");
        }
      }
    }
  }

  @Test
  void aPivotOfExactlyZeroWithoutRankDetectionIsAnErrorThatNamesItsColumn() {
    // the reflector of (3, 4) maps (6, 8) to (-10, 0) without any rounding
    List<SparseRow> rows = new ArrayList<>();
    for (int i = 3; i <= 4; i++) {
      double[] pair = {i, 2 * i};
      rows.add(new SparseRow(new int[] {0, 1}, pair, new double[] {1}, 1, 3));
      rows.add(new SparseRow(new int[] {2}, new double[] {i}, new double[] {1}, 1, 3));
    }
    GpuSparseQR.Builder off = GpuSparseQR.builder().rankTolerance(-1).equilibrate(false);
    for (boolean spark : new boolean[] {false, true}) {
      try (FactorState f = factorize(rows, spark, off)) {
        assertThatThrownBy(f::solve)
            .isInstanceOf(NonFiniteSolutionException.class)
            .hasMessageStartingWith("x is not finite from column ")
            .satisfies(
                e ->
                    assertThat(((NonFiniteSolutionException) e).column().orElseThrow()).isIn(0, 1));
        names(() -> f.solveFurther(source(rows, spark)), "is not finite", "rank detection");
      }
    }
  }

  @Test
  void aWeightThatOverflowsIsAnErrorThatNamesTheRow() {
    var row = new SparseRow(new int[] {0}, new double[] {1e300}, new double[] {1}, 1e20, 1);
    assertThatThrownBy(() -> factorize(List.of(row, row), false, GpuSparseQR.builder()))
        .isInstanceOf(NonFiniteValueException.class)
        .hasMessageContaining("column 0: 1.0E300 times the root of the row's weight overflows");
    var label = new SparseRow(new int[] {0}, new double[] {1}, new double[] {1e300}, 1e20, 1);
    assertThatThrownBy(() -> factorize(List.of(label, label), false, GpuSparseQR.builder()))
        .isInstanceOf(NonFiniteValueException.class)
        .hasMessageContaining("right-hand side 0, 1.0E300, times the root");
  }

  private static void names(Runnable action, String... parts) {
    assertThatThrownBy(action::run)
        .isInstanceOf(NonFiniteSolutionException.class)
        .hasMessageContainingAll(parts);
  }
}
