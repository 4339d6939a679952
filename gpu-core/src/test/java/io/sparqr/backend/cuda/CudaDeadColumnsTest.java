/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.backend.cpu.CpuSubtreeFactorizer;
import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.numeric.ColumnNorms;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.FrontFactor;
import io.sparqr.numeric.RowSplit;
import io.sparqr.numeric.SharedCollection;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeFactorizer;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.TestMatrices;
import io.sparqr.numeric.Tolerances;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Matrices with hundreds of dead columns: the same columns as on the CPU, the same bits in every
 * run.
 */
@Tag("gpu")
class CudaDeadColumnsTest {

  private static Stream<Arguments> cases() {
    var cases = new ArrayList<Arguments>();
    for (var ordering : List.of(OrderingMethod.NESTED_DISSECTION, OrderingMethod.COLAMD)) {
      cases.add(Arguments.of("gen:nug8", 742, ordering));
      cases.add(Arguments.of("gen:nug12", 2794, ordering));
      cases.add(Arguments.of("gen:ch7-6-b3", 3611, ordering));
      cases.add(Arguments.of("gen:ch6-6-b3", 0, ordering));
      cases.add(Arguments.of("gen:ch5-5-b3", 0, ordering));
    }
    return SharedCollection.slice(cases);
  }

  @ParameterizedTest
  @MethodSource("cases")
  void ranksAndBits(String name, int rank, OrderingMethod ordering) {
    CsrMatrix a = Gallery.generate(name);
    SubtreeProblem problem = problem(a, ordering);
    var options =
        new FactorOptions(FactorOptions.defaultTolerance(a.rows(), a.columns(), 1), 2, 0)
            .ofUnitColumns(true);
    SubtreeFactor cpu = factor(new CpuSubtreeFactorizer(), problem, options);
    SubtreeFactor first = null;
    for (int run = 0; run < 4; run++) {
      String what = name + ", " + ordering + ", run " + run;
      SubtreeFactor f = factor(TestDevice.provider().create(0), problem, options);
      assertThat(f.summary().rank()).as(what).isEqualTo(cpu.summary().rank());
      assertThat(rank == 0 || f.summary().rank() == rank).as(what).isTrue();
      assertThat(f.summary().stages()).as(what + ": stages").isLessThanOrEqualTo(2);
      double norm = Math.sqrt(cpu.residualSquares()[0]);
      assertThat(Math.sqrt(f.residualSquares()[0]))
          .as(what)
          .isCloseTo(norm, within(Tolerances.ILL_CONDITIONED * norm));
      for (int k = 0; k < cpu.fronts().size(); k++) {
        FrontFactor x = f.fronts().get(k);
        assertThat(x.livePivot()).as(what).containsExactly(cpu.fronts().get(k).livePivot());
        if (first != null) {
          FrontFactor y = first.fronts().get(k);
          assertThat(Arrays.equals(TestMatrices.rowsOfR(x), TestMatrices.rowsOfR(y)))
              .as(what + ": bits")
              .isTrue();
          assertThat(Arrays.equals(x.rhs(), y.rhs())).as(what + ": bits").isTrue();
        }
      }
      first = f;
    }
  }

  private static SubtreeFactor factor(
      SubtreeFactorizer factorizer, SubtreeProblem problem, FactorOptions options) {
    try (factorizer) {
      return factorizer.factor(problem, options);
    }
  }

  private static SubtreeProblem problem(CsrMatrix a, OrderingMethod ordering) {
    var symbolic = SymbolicOptions.defaults().withSingletons(false).withOrdering(ordering);
    var analysis = SymbolicAnalyzer.analyze(a.pattern(), symbolic);
    var norms = new ColumnNorms(a.columns());
    for (int k = 0; k < a.nonzeros(); k++) {
      norms.add(a.columnIndex()[k], a.values()[k]);
    }
    double[] b = TestMatrices.vector(a.rows(), new Random(2));
    RowSplit split = RowSplit.of(a, b, 1, analysis, norms.factors());
    int[] fronts = new int[analysis.fronts()];
    Arrays.setAll(fronts, f -> f);
    return new SubtreeProblem(analysis, fronts, split.rows(), List.of());
  }
}
