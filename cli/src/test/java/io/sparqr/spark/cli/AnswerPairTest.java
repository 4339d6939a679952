/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.spark.GpuSparseQR;
import io.sparqr.spark.LocalSpark;
import io.sparqr.spark.Problems;
import io.sparqr.spark.report.LeastSquaresSolution;
import io.sparqr.sparse.CsrMatrix;
import org.junit.jupiter.api.Test;

/** Errors of 1e-10 are found in either answer, and in both at once. */
class AnswerPairTest {

  private static final long SEED = Long.getLong("test.seed", 20261206L);
  private static final double PLANTED = 1e-10;

  private static LeastSquaresSolution with(LeastSquaresSolution s, double[] x, double norm) {
    return new LeastSquaresSolution(
        new double[][] {x}, new double[] {norm}, s.rank(), s.deadColumns(), s.report());
  }

  @Test
  void rightAnswersAreTheSameAndPlantedErrorsAreNot() {
    CsrMatrix full = Problems.random(200, 40, 5, SEED);
    double[] dependent = full.values().clone();
    for (int k = 0; k < dependent.length; k++) {
      // column 7 vanishes
      dependent[k] = full.columnIndex()[k] == 7 ? 0 : dependent[k];
    }
    var deficient = new CsrMatrix(200, 40, full.rowStart(), full.columnIndex(), dependent);
    double[] noise = Problems.rhs(200, SEED + 1);
    double[] consistent = full.multiply(Problems.rhs(40, SEED + 2));
    check(full, noise, 40);
    check(full, consistent, 40);
    check(deficient, noise, 39);
    assertThat(LocalSpark.context().getPersistentRDDs()).isEmpty();
  }

  private static void check(CsrMatrix a, double[] b, int rank) {
    LeastSquaresSolution s = GpuSparseQR.builder().columns(40).solve(Problems.rdd(a, 2, b));
    assertThat(s.rank()).isEqualTo(rank);
    var right = new AnswerPair(a, b, s, s);
    assertThat(right.same()).as(right.toString()).isTrue();
    double size = Problems.norm(s.x());
    for (int j = 0; j < 40; j++) {
      double[] x = s.x().clone();
      x[j] += PLANTED * size;
      LeastSquaresSolution wrong = with(s, x, s.residualNorm());
      if (a.multiplyTransposed(b)[j] != 0) {
        assertThat(new AnswerPair(a, b, s, wrong).same()).as("x[%d], seed %d", j, SEED).isFalse();
        assertThat(new AnswerPair(a, b, wrong, wrong).same()).isFalse();
      }
    }
    double[] nan = s.x().clone();
    nan[0] = Double.NaN;
    assertThat(new AnswerPair(a, b, s, with(s, nan, s.residualNorm())).same()).isFalse();
    if (s.residualNorm() > 1e-3) {
      var norm = with(s, s.x(), s.residualNorm() * (1 + PLANTED));
      assertThat(new AnswerPair(a, b, s, norm).same()).isFalse();
      assertThat(new AnswerPair(a, b, norm, norm).same()).isFalse();
    }
  }
}
