/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factorization;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.numeric.Tolerances;
import io.sparqr.spark.LocalSpark;
import io.sparqr.spark.Problems;
import io.sparqr.spark.pipeline.Pipeline;
import io.sparqr.spark.plan.SolveOptions;
import io.sparqr.spark.report.ProgressListener;
import io.sparqr.spark.rows.RowSource;
import io.sparqr.spark.solve.SemiNormalEquations;
import io.sparqr.sparse.CsrMatrix;
import java.util.Arrays;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The semi-normal equations are corrected, and the residual norm that they report is right. */
class SemiNormalEquationsTest {

  private static final long SEED = 20261204L;

  /** Dense, m x n, the last two columns equal but for {@code apart}. */
  private static CsrMatrix nearly(int m, int n, double apart) {
    double[] value = Problems.rhs(m * n, SEED);
    for (int i = 0; i < m; i++) {
      value[i * n + n - 1] = value[i * n + n - 2] + apart * value[i * n + n - 1];
    }
    int[] start = IntStream.rangeClosed(0, m).map(i -> n * i).toArray();
    int[] index = IntStream.range(0, m * n).map(k -> k % n).toArray();
    return new CsrMatrix(m, n, start, index, value);
  }

  private static FactorState state(CsrMatrix a) {
    RowSource rows = RowSource.of(Problems.rdd(a, 2, Problems.rhs(a.rows(), 7)));
    return Pipeline.factorize(rows, SolveOptions.defaults(), ProgressListener.NONE);
  }

  @Test
  void oneStepOfRefinementIsTaken() {
    // cond(A) = 1e6: without it an error of cond^2 eps = 1e-4, with it one of cond eps
    CsrMatrix a = nearly(60, 8, 1e-6);
    double[] expected = Problems.rhs(8, SEED + 1);
    double[] b = a.multiply(expected);
    try (FactorState f = state(a)) {
      double[] x = f.solveFurther(RowSource.of(Problems.rdd(a, 3, b))).x();
      double size = Problems.norm(expected);
      assertThat(x)
          .as("seed %d", SEED)
          .containsExactly(expected, within(Tolerances.ofSolution(1e6, size)));
      assertThat(Tolerances.backwardError(a, b, x)).isLessThan(Tolerances.UNITS);
    }
  }

  @Test
  void theResidualOfTheRefinedSolutionIsItsOwn() {
    CsrMatrix a = nearly(60, 8, 1e-6);
    double[] b = Problems.rhs(60, SEED + 2);
    try (FactorState f = state(a)) {
      var s = f.solveFurther(RowSource.of(Problems.rdd(a, 2, b)));
      double norm = Problems.norm(Problems.residual(a, s.x(), b));
      assertThat(s.residualNorm()).isCloseTo(norm, within(Tolerances.ofResidual(norm, 0)));
    }
  }

  /** Without a residual the second pass sends no value, and must not find those of the first. */
  @Test
  void aPassBeginsWithZeros() {
    int n = 40;
    double[] value = new double[n];
    Arrays.fill(value, 2);
    int[] start = IntStream.rangeClosed(0, n).toArray();
    var a = new CsrMatrix(n, n, start, IntStream.range(0, n).toArray(), value);
    double[] expected = Problems.rhs(n, SEED + 5);
    int many = 2 * LocalSpark.context().defaultParallelism() + 1;
    try (FactorState f = state(a)) {
      for (int partitions : new int[] {2, many}) {
        RowSource rows = RowSource.of(Problems.rdd(a, partitions, a.multiply(expected)));
        assertThat(f.solveFurther(rows).x()).as("seed %d", SEED).isEqualTo(expected);
      }
    }
  }

  @Test
  void whatIsLeftOfTheLeastNormsEquationsIsItsResidual() {
    CsrMatrix a = nearly(30, 6, 1);
    double[] b = Problems.rhs(6, SEED + 3);
    double[] product = Problems.rhs(6, SEED + 4);
    try (FactorState f = state(a)) {
      // A'y does not depend on y: nothing helps, and b minus it remains
      var stubborn =
          new SemiNormalEquations.Products() {
            @Override
            public double[][] times(double[][] z) {
              return new double[][] {a.multiply(z[0])};
            }

            @Override
            public double[][] transposed(double[][] y) {
              return new double[][] {product.clone()};
            }
          };
      double[] left = new double[6];
      Arrays.setAll(left, j -> b[j] - product[j]);
      assertThat(f.leastNorm(new double[][] {b}, stubborn).residualNorm()[0])
          .isCloseTo(Problems.norm(left), within(Tolerances.roundings(8, 1)));
    }
    assertThat(LocalSpark.context().getPersistentRDDs()).isEmpty();
  }
}
