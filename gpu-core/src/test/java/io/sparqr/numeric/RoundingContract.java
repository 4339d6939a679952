/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.SampledCases;
import io.sparqr.sparse.CsrMatrix;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Values whose squares leave the range of doubles, and columns that nearly cancel. */
interface RoundingContract extends BackendUnderTest {

  @Test
  default void hugeAndTinyValues() {
    var random = new Random(8);
    CsrMatrix a = TestMatrices.sparse(400, 150, 4, random);
    double[] b = TestMatrices.vector(400, random);
    var c = ContractCase.dissected("unit", a, b, 1);
    double[][] r = c.run(backend(), TaskRun.whole(c.analysis), 1).denseR();
    double limit = Tolerances.of(400, 150, Tolerances.frobenius(a));
    for (double s : new double[] {1e154, 1e-160, 1e290, 1e-290}) {
      var scaled = ContractCase.dissected("scale " + s, TestMatrices.scale(a, s), b, 1);
      var run = scaled.run(backend(), TaskRun.whole(scaled.analysis), 1);
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

  @SampledCases(oneIn = 5)
  @ParameterizedTest
  @ValueSource(doubles = {0, 0.5, 1, 1.25, 1.5, 2, 3, 5, 8})
  default void columnsFromFarToNearlyDependent(double digits) {
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
      c.verify(c.run(backend(), TaskRun.whole(c.analysis), 1), n - 1);
    }
  }

  @Test
  default void subnormalColumnsLeaveNormsAsTheyAre() {
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
          TaskRun.run(backend(), c.analysis, c.split().rows(), TaskRun.whole(c.analysis), options);
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
}
