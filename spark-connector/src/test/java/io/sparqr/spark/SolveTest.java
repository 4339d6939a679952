/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.backend.BackendChoice;
import io.sparqr.numeric.Tolerances;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.report.LeastSquaresSolution;
import io.sparqr.sparse.CsrMatrix;
import org.junit.jupiter.api.Test;

/** The pipeline in local[2] against dense oracles. */
class SolveTest {

  private static final long SEED = Long.getLong("test.seed", 20260101L);

  @Test
  void solvesARandomProblemLikeADenseSolver() {
    CsrMatrix a = Problems.random(120, 40, 5, SEED);
    double[] b = Problems.rhs(120, SEED + 1);
    double[] c = Problems.rhs(120, SEED + 2);
    LeastSquaresSolution s = GpuSparseQR.builder().check(true).solve(Problems.rdd(a, 3, b, c));
    double[][] dense = Problems.dense(a);
    assertThat(s.x(0))
        .as("seed %d", SEED)
        .containsExactly(Problems.solveDense(dense, b), within(Tolerances.SOLUTION));
    assertThat(s.x(1))
        .as("seed %d", SEED)
        .containsExactly(Problems.solveDense(dense, c), within(Tolerances.SOLUTION));
    assertThat(s.residualNorm())
        .isCloseTo(Problems.norm(Problems.residual(a, s.x(), b)), within(Tolerances.REORDERED));
    assertThat(s.rank()).isEqualTo(40);
    assertThat(s.report().residual().normalResidual()).isLessThan(Tolerances.NORMAL_RESIDUAL);
    assertThat(s.report().proof().normDeparture()).isPositive().isLessThan(Tolerances.DEPARTURE);
    assertThat(s.report().proof().redoneTasks()).isZero();
    assertThat(s.report().toText()).contains("column norms and probes kept to ");
  }

  @Test
  void severalLevelsGiveTheSameAnswer() {
    CsrMatrix a = Problems.grid(40, SEED);
    double[] b = Problems.rhs(a.rows(), SEED + 1);
    var rdd = Problems.rdd(a, 3, b);
    for (int levels = 1; levels <= 4; levels++) {
      LeastSquaresSolution s =
          GpuSparseQR.builder()
              .ordering(OrderingMethod.NESTED_DISSECTION)
              .backend(BackendChoice.CPU)
              .executors(2)
              .partitionOptions(new PartitionOptions(2, 4, levels, 0))
              .solve(rdd);
      assertThat(s.report().analysis().levels()).isGreaterThanOrEqualTo(levels);
      assertThat(Problems.normalResidual(a, s.x(), b)).isLessThan(Tolerances.NORMAL_RESIDUAL);
      assertThat(s.residualNorm())
          .isCloseTo(Problems.norm(Problems.residual(a, s.x(), b)), within(Tolerances.SOLUTION));
    }
  }

  @Test
  void refinementRepairsWhatRowsOfVeryDifferentWeightsLose() {
    // a consistent system in integers; light rows first, which a heavy pivot then rounds away
    CsrMatrix pattern = Problems.random(80, 20, 4, SEED);
    double[] integers = new double[pattern.nonzeros()];
    for (int k = 0; k < integers.length; k++) {
      integers[k] = Math.rint(8 * pattern.values()[k]) + 0.5;
    }
    CsrMatrix a = new CsrMatrix(80, 20, pattern.rowStart(), pattern.columnIndex(), integers);
    double[] x = new double[20];
    for (int j = 0; j < x.length; j++) {
      x[j] = j - 9;
    }
    double[] b = a.multiply(x);
    var rows = new java.util.ArrayList<>(Problems.rows(a, b));
    for (int i = 0; i < rows.size(); i++) {
      SparseRow r = rows.get(i);
      double weight = i % 8 == 7 ? 1e20 : 1;
      rows.set(i, new SparseRow(r.indices(), r.values(), r.labels(), weight, 20));
    }
    var rdd = LocalSpark.context().parallelize(rows, 2);
    double[] error = new double[3];
    for (int steps = 0; steps < error.length; steps++) {
      LeastSquaresSolution s = GpuSparseQR.builder().rankTolerance(-1).refinement(steps).solve(rdd);
      for (int j = 0; j < x.length; j++) {
        error[steps] = Math.max(error[steps], Math.abs(s.x()[j] - x[j]));
      }
    }
    assertThat(error[1]).as("seed %d, without %s", SEED, error[0]).isLessThan(error[0] / 1000);
    assertThat(error[2]).as("seed %d, without %s", SEED, error[0]).isLessThan(error[0] / 1000);
  }
}
