/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.backend.cpu.CpuSubtreeFactorizer;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.symbolic.Panels;
import io.sparqr.symbolic.SymbolicOptions;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** A panel by the rules as they are: its last front by its Gram matrix, in a tree made for that. */
class GramPanelTest {

  private static TaskRun run(SubtreeFactorizer cpu, ContractCase c, boolean gram) {
    int[] whole = TaskRun.whole(c.analysis);
    var options = new FactorOptions(c.tolerance, 2, 0).gram(gram);
    return TaskRun.run(cpu, c.analysis, c.split().rows(), whole, options);
  }

  @Test
  void itsLastFrontIsTakenAndTheAnswerIsThatOfReflectors() {
    CsrMatrix a = Panels.anywhere(40_000, 600, 8, new Random(1));
    double[] b = TestMatrices.vector(a.rows(), new Random(3));
    var plain = SymbolicOptions.defaults().withOrdering(OrderingMethod.COLAMD);
    var reflectors = new ContractCase("panel", a, b, 1, plain);
    var gram = new ContractCase("panel, gram", a, b, 1, plain.withGram());
    try (var cpu = new CpuSubtreeFactorizer()) {
      TaskRun expected = run(cpu, reflectors, false);
      TaskRun found = run(cpu, gram, true);
      assertThat(found.summary.gram().tried() - found.summary.gram().refused()).isPositive();
      assertThat(found.summary.rank()).isEqualTo(expected.summary.rank());
      double norm = Math.sqrt(expected.residualSquares[0]);
      assertThat(Math.sqrt(found.residualSquares[0]))
          .isCloseTo(norm, within(Tolerances.EPS * a.columns() * norm));
      double[] x = expected.factorization(reflectors.ones(), reflectors.tolerance, 1).solve();
      double[] y = found.factorization(gram.ones(), gram.tolerance, 1).solve();
      double largest = 0;
      for (double v : x) {
        largest = Math.max(largest, Math.abs(v));
      }
      for (int j = 0; j < x.length; j++) {
        assertThat(y[j]).isCloseTo(x[j], within(Tolerances.ILL_CONDITIONED * largest));
      }
    }
  }
}
