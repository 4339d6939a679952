/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.backend.cpu.CpuSubtreeFactorizer;
import io.sparqr.sparse.CsrMatrix;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The map-side combine leaves few rows, the same Gram matrix and the whole residual. */
class MapSideReducerTest {

  @ParameterizedTest
  @CsvSource({"500,12,1", "40,60,1", "5000,33,3", "200,1,0", "7,7,2", "90000,40,1"})
  void keepsEverythingThatCounts(int m, int n, int nrhs) {
    var random = new Random(m);
    CsrMatrix a = TestMatrices.dense(m, n, random);
    double[] b = TestMatrices.vector(m * nrhs, random);
    var c = ContractCase.natural("reduced", a, b, nrhs);
    assertThat(c.analysis.fronts()).isEqualTo(1);
    RowBlock rows = c.split().rows();
    var reducer = new MapSideReducer(c.analysis, 0, nrhs);
    reducer.add(rows);
    RowBlock few = reducer.finish();
    double[] squares = reducer.residualSquares();

    assertThat(few.rows()).isLessThanOrEqualTo(Math.min(m, n));
    for (int q = 0; q < nrhs; q++) {
      double before = squares(rows.rhs(), nrhs, q);
      double after = squares(few.rhs(), nrhs, q) + squares[q];
      assertThat(after).isCloseTo(before, within(Tolerances.of(m, n, before)));
    }
    try (var backend = new CpuSubtreeFactorizer()) {
      var options = new FactorOptions(c.tolerance, 1, 0);
      var run = TaskRun.run(backend, c.analysis, few, TaskRun.whole(c.analysis), options);
      for (int q = 0; q < nrhs; q++) {
        run.residualSquares[q] += squares[q];
      }
      c.verify(run, Math.min(m, n));
    }
    var again = new MapSideReducer(c.analysis, 0, nrhs);
    again.add(rows);
    assertThat(again.finish().value()).isEqualTo(few.value());
  }

  private static double squares(double[] x, int nrhs, int q) {
    double sum = 0;
    for (int i = q; i < x.length; i += nrhs) {
      sum += x[i] * x[i];
    }
    return sum;
  }
}
