/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.backend.cpu.CpuSubtreeFactorizer;
import io.sparqr.backend.reference.ReferenceSubtreeFactorizer;
import io.sparqr.numeric.LocalSolver.Solution;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.symbolic.Spreads;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A factorization with tall fronts spread is the one without, up to rounding. */
class SpreadFrontsTest {

  private static final SymbolicOptions OPTIONS =
      SymbolicOptions.defaults().withOrdering(OrderingMethod.NATURAL).withSingletons(false);

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
  void sameRAndRankAndSolution(long seed) {
    var random = new Random(seed);
    boolean dependent = seed % 3 == 0;
    CsrMatrix a = TestMatrices.blocks(dependent, random);
    double[] b = TestMatrices.vector(a.rows(), random);
    SymbolicAnalysis plain = SymbolicAnalyzer.analyze(a.pattern(), OPTIONS);
    SymbolicAnalysis spread = Spreads.eager(plain);
    assertThat(Spreads.inserted(spread)).as("seed %d", seed).isPositive();
    for (SubtreeFactorizer backend :
        List.of(new CpuSubtreeFactorizer(), new ReferenceSubtreeFactorizer())) {
      try (backend) {
        var solver = new LocalSolver(backend, OPTIONS, 2);
        Solution one = solver.solve(a, b, 1, plain);
        Solution two = solver.solve(a, b, 1, spread);
        int rank = a.columns() - (dependent ? 2 : 0);
        assertThat(one.factorization().rank()).as("seed %d", seed).isEqualTo(rank);
        assertThat(two.factorization().rank()).as("seed %d", seed).isEqualTo(rank);
        assertThat(two.factorization().deadColumns()).isEqualTo(one.factorization().deadColumns());
        requireSameR(one, two, "seed " + seed);
        Tolerances.requireClose(two.x(), one.x(), Tolerances.RANDOM, "x, seed " + seed);
        assertThat(two.residualNorm()[0] / one.residualNorm()[0])
            .isBetween(1 - Tolerances.RESIDUAL, 1 + Tolerances.RESIDUAL);
      }
    }
  }

  /** The same R but for the signs of rows. */
  private static void requireSameR(Solution one, Solution two, String what) {
    List<double[]> r = rows(one);
    List<double[]> s = rows(two);
    assertThat(s).hasSameSizeAs(r);
    double norm = 0;
    double most = 0;
    for (int f = 0; f < r.size(); f++) {
      assertThat(s.get(f)).hasSameSizeAs(r.get(f));
      for (int k = 0; k < r.get(f).length; k++) {
        norm = Math.hypot(norm, r.get(f)[k]);
        most = Math.max(most, Math.abs(Math.abs(r.get(f)[k]) - Math.abs(s.get(f)[k])));
      }
    }
    Tolerances.require(most, Tolerances.UNITS * Tolerances.EPS * norm, "R, %s", what);
  }

  /** The values of the fronts with rows of R. */
  private static List<double[]> rows(Solution s) {
    var rows = new ArrayList<double[]>();
    for (FrontFactor f : s.factorization().fronts()) {
      if (f.rank() > 0) {
        rows.add(TestMatrices.rowsOfR(f));
      }
    }
    return rows;
  }
}
