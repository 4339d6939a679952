/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.Sampled;
import io.sparqr.numeric.Tolerances;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.report.LeastSquaresSolution;
import io.sparqr.sparse.CsrMatrix;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.util.LongAccumulator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A ridge for each column, and many ridges from one factorization. */
@Tag("numbers")
class RidgePathTest {

  private static final long SEED = Long.getLong("test.seed", 20261126L);
  private static final CsrMatrix TALL = Problems.random(400, 25, 4, SEED);
  private static final double[] B = Problems.rhs(400, SEED + 1);
  private static final double[] C = Problems.rhs(400, SEED + 2);

  private static void assertSame(
      LeastSquaresSolution found, LeastSquaresSolution expected, String what) {
    for (int k = 0; k < expected.rhsCount(); k++) {
      double size = Problems.norm(expected.x(k));
      assertThat(found.x(k))
          .as(what)
          .containsExactly(expected.x(k), within(Tolerances.SOLUTION * size));
      double norm = expected.residualNorms()[k];
      assertThat(found.residualNorms()[k])
          .as(what)
          .isCloseTo(norm, within(Tolerances.REORDERED * norm));
    }
    assertThat(found.rank()).as(what).isEqualTo(expected.rank());
    assertThat(found.report().matrix()).as(what).isEqualTo(expected.report().matrix());
  }

  @Sampled(oneIn = 3)
  @Test
  void fiftyLambdasAreFiftySolves() {
    LongAccumulator read = LocalSpark.context().sc().longAccumulator();
    JavaRDD<SparseRow> rows =
        Problems.rdd(TALL, 3, B, C)
            .map(
                r -> {
                  read.add(1);
                  return r;
                });
    double[] lambdas =
        IntStream.range(0, 50).mapToDouble(k -> k == 10 ? 0 : Math.pow(10, 4 - k / 5.0)).toArray();
    List<LeastSquaresSolution> path = GpuSparseQR.builder().build().ridgePath(rows, lambdas);
    assertThat(read.value()).as("the first reading leaves the rows").isEqualTo(400L);
    assertThat(path).hasSize(50);
    for (int k = 0; k < 50; k += k < 4 || k == 9 ? 1 : 5) {
      LeastSquaresSolution alone =
          GpuSparseQR.builder().ridge(lambdas[k]).solve(Problems.rdd(TALL, 3, B, C));
      assertSame(path.get(k), alone, "lambda " + lambdas[k] + ", seed " + SEED);
    }
    assertThat(path.get(30).report().notes())
        .anyMatch(w -> w.startsWith("ridge path: QR of [R; ridge] with one analysis"));
    assertThat(path.get(30).report().analysis().orderingReason()).startsWith("given analysis");
    assertThat(LocalSpark.context().getPersistentRDDs()).isEmpty();
  }

  /** Few rows and much fill: R has more to factor than A. */
  @Test
  void whereRIsLargerThanATheRowsAreTaken() {
    CsrMatrix wide = Problems.random(60, 150, 4, SEED);
    double[] b = Problems.rhs(60, SEED);
    double[] lambdas = {1, 0.1, 10, 0.01};
    List<LeastSquaresSolution> path =
        GpuSparseQR.builder().build().ridgePath(Problems.rdd(wide, 2, b), lambdas);
    for (int k = 0; k < 4; k++) {
      LeastSquaresSolution alone =
          GpuSparseQR.builder().ridge(lambdas[k]).solve(Problems.rdd(wide, 2, b));
      assertSame(path.get(k), alone, "lambda " + lambdas[k] + ", seed " + SEED);
    }
    assertThat(path.get(2).report().notes())
        .anyMatch(w -> w.startsWith("ridge path: QR of [A; ridge] with one analysis"));
    assertThat(path.get(3).report().analysis().orderingReason()).startsWith("given analysis");
  }

  /** One lambda a column is the problem with the rows sqrt(lambda_j) e_j. */
  @Test
  void oneLambdaAColumnIsSoManyRows() {
    double[] lambda = Problems.rhs(25, SEED + 5);
    for (int j = 0; j < 25; j++) {
      lambda[j] = j % 4 == 0 ? 0 : Math.abs(lambda[j]) * Math.pow(10, j % 3);
    }
    var rows = new ArrayList<>(Problems.rows(TALL, B, C));
    for (int j = 0; j < 25; j++) {
      rows.add(
          new SparseRow(new int[] {j}, new double[] {Math.sqrt(lambda[j])}, new double[2], 1, 25));
    }
    GpuSparseQR.Builder builder = GpuSparseQR.builder().ridge(lambda).check(true);
    lambda[1] = 1e9; // copied before
    try (QRFactorization f = builder.factorize(Problems.rdd(TALL, 3, B, C));
        QRFactorization g =
            GpuSparseQR.builder().factorize(LocalSpark.context().parallelize(rows, 3))) {
      for (int k = 0; k < 2; k++) {
        double[] x = g.solve().x(k);
        assertThat(f.solve().x(k)).containsExactly(x, within(Tolerances.REORDERED));
        assertThat(f.solve().residualNorms()[k])
            .isCloseTo(
                Problems.norm(Problems.residual(TALL, x, k == 0 ? B : C)),
                within(Tolerances.REORDERED));
      }
      assertThat(f.unscaledErrors())
          .containsExactly(g.unscaledErrors(), within(Tolerances.REORDERED));
      assertThat(f.summary().residual().normalResidual()).isLessThan(Tolerances.NORMAL_RESIDUAL);
      assertThat(f.solveRelabeled(Problems.rdd(TALL, 2, C, B)).x())
          .containsExactly(g.solve().x(1), within(Tolerances.REORDERED));
    }
    double[] same = new double[25];
    Arrays.fill(same, 0.3);
    assertThat(GpuSparseQR.builder().ridge(same).solve(Problems.rdd(TALL, 3, B)).x())
        .isEqualTo(GpuSparseQR.builder().ridge(0.3).solve(Problems.rdd(TALL, 3, B)).x());
  }

  /** A penalty, times lambda, from which the intercept is exempt. */
  @Test
  void aPathOfOneLambdaAColumn() {
    double[] factor = new double[25];
    Arrays.fill(factor, 1);
    factor[0] = 0;
    List<LeastSquaresSolution> path =
        GpuSparseQR.builder().ridge(factor).build().ridgePath(Problems.rdd(TALL, 3, B), 2, 1e6);
    for (int k = 0; k < 2; k++) {
      double lambda = k == 0 ? 2 : 1e6;
      double[] times = Arrays.stream(factor).map(f -> lambda * f).toArray();
      LeastSquaresSolution alone =
          GpuSparseQR.builder().ridge(times).solve(Problems.rdd(TALL, 3, B));
      assertSame(path.get(k), alone, "lambda " + lambda + ", seed " + SEED);
    }
    assertThat(Math.abs(path.get(1).x()[0])).isGreaterThan(1e3 * Math.abs(path.get(1).x()[1]));
  }

  @Test
  void whatIsOutOfRangeIsRefused() {
    JavaRDD<SparseRow> rows = Problems.rdd(TALL, 3, B);
    assertThatThrownBy(() -> GpuSparseQR.builder().ridge(new double[] {1, -1}))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("ridge of column 1 = -1.0: must be finite and at least 0");
    assertThatThrownBy(() -> GpuSparseQR.builder().ridge(new double[] {1, 2}).solve(rows))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("2 lambdas of a ridge for 25 columns");
    assertThatThrownBy(() -> GpuSparseQR.builder().build().ridgePath(rows, 1, Double.NaN))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("ridge = NaN");
    assertThatThrownBy(() -> GpuSparseQR.builder().ridge(1).build().ridgePath(rows, 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("a path has its own");
    assertThatThrownBy(() -> GpuSparseQR.builder().minimumNorm(true).build().ridgePath(rows, 1))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
