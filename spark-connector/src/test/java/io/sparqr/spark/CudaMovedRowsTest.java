/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.backend.BackendChoice;
import io.sparqr.numeric.ResidentFactors;
import io.sparqr.numeric.storage.RowBudget;
import io.sparqr.spark.device.DeviceReport;
import io.sparqr.spark.report.LeastSquaresSolution;
import io.sparqr.sparse.CsrMatrix;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * R that leaves a GPU for newer R, through Spark in one JVM: the same bits, and nothing left
 * behind.
 */
@Tag("gpu")
class CudaMovedRowsTest {

  private static final long SEED = Long.getLong("test.seed", 20261126L);
  private static final String SHARE = "sparqr.cuda.residentShare";
  private static final CsrMatrix A = Problems.grid(60, SEED);
  private static final double[] B = Problems.rhs(A.rows(), SEED + 1);
  private static final double[] C = Problems.rhs(A.rows(), SEED + 2);

  @AfterEach
  void nothingIsLeft() throws InterruptedException {
    System.clearProperty(SHARE);
    // Spark drops partitions behind close()
    for (int k = 0; k < 500 && RowBudget.ofJvm().memoryBytes() > 0; k++) {
      Thread.sleep(20);
    }
    assertThat(RowBudget.ofJvm().memoryBytes()).isZero();
    assertThat(ResidentFactors.ofJvm().size()).isZero();
  }

  private static QRFactorization factorization() {
    return GpuSparseQR.builder()
        .backend(BackendChoice.REQUIRE_CUDA)
        .factorize(Problems.rdd(A, 3, B));
  }

  private static double[] further(QRFactorization f) {
    return f.solveRelabeled(Problems.rdd(A, 3, C)).x();
  }

  @Test
  void ofTwoFactorizationsOneAtATimeIsOnTheDevice() {
    try (QRFactorization first = factorization()) {
      LeastSquaresSolution solution = first.solve();
      double[] x = solution.x();
      double[] more = further(first);
      long one = solution.report().factorization().factorBytes().device();
      assertThat(one).isPositive();
      double all = DeviceReport.ofThisJvm("").devices().get(0).memoryBytes();
      System.setProperty(SHARE, Double.toString(1.5 * one / all));

      try (QRFactorization second = factorization()) {
        long moved = RowBudget.ofJvm().memoryBytes();
        assertThat(moved).as("seed %d: R of the first on the host", SEED).isPositive();
        for (int k = 0; k < 2; k++) {
          assertThat(further(first)).as("seed %d", SEED).isEqualTo(more);
          assertThat(first.solve().x()).isEqualTo(x);
          assertThat(further(second)).isEqualTo(more);
          assertThat(second.solve().x()).isEqualTo(x);
        }
        assertThat(RowBudget.ofJvm().memoryBytes()).as("a copy of each").isEqualTo(2 * moved);
        System.setProperty(SHARE, "0");
        assertThat(further(first)).as("over the bus").isEqualTo(more);
        // as rows, too
        assertThat(first.collectR().matrix().values())
            .isEqualTo(second.collectR().matrix().values());
      }
    }
  }
}
