/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.backend.cpu.CpuSubtreeFactorizer;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.symbolic.Panels;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicOptions;
import java.util.ArrayList;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** A panel by the rules as they are: its last front by its Gram matrix, in a tree made for that. */
class GramPanelTest {

  private static TaskRun run(SubtreeFactorizer cpu, ContractCase c, boolean gram) {
    int[] whole = TaskRun.whole(c.analysis);
    var options = new FactorOptions(c.tolerance, 2, 0).gram(gram);
    return TaskRun.run(cpu, c.analysis, c.split().rows(), whole, options);
  }

  /** Groups of columns, each with rows of its own and columns that all have. */
  private static CsrMatrix groups(int groups, int own, int common, int rows, Random random) {
    var all = new ArrayList<TreeMap<Integer, Double>>();
    for (int i = 0; i < groups * rows; i++) {
      var row = new TreeMap<Integer, Double>();
      for (int k = 0; k < 3; k++) {
        row.put(i / rows * own + random.nextInt(own), random.nextGaussian());
        row.put(groups * own + random.nextInt(common), random.nextGaussian());
      }
      all.add(row);
    }
    return TestMatrices.of(groups * own + common, all);
  }

  /** Trees that memory keeps out of the tree above them leave rows to it. */
  @Test
  void treesBelowOneAnother() {
    CsrMatrix a = groups(6, 200, 220, 3000, new Random(2));
    double[] b = TestMatrices.vector(a.rows(), new Random(3));
    var natural = SymbolicOptions.defaults().withOrdering(OrderingMethod.NATURAL);
    long all = largest(new ContractCase("all", a, b, 1, natural.withGram()).analysis);
    int below = 0;
    for (double part : new double[] {1, 0.8, 0.6, 0.4}) {
      var c = new ContractCase("part " + part, a, b, 1, natural.withGram((long) (part * all)));
      assertThat(largest(c.analysis)).isLessThanOrEqualTo((long) (part * all));
      for (int f = 0; f < c.analysis.fronts(); f++) {
        int above = c.analysis.parent(f);
        below += above >= 0 && c.analysis.gramBytes(f) > 0 && c.analysis.isGram(above) ? 1 : 0;
      }
      assertThat(answersAsReflectors(a, b, c)).as("part %s", part).isPositive();
    }
    assertThat(below).as("trees below others").isPositive();
  }

  private static long largest(SymbolicAnalysis a) {
    long most = 0;
    for (int f = 0; f < a.fronts(); f++) {
      most = Math.max(most, a.gramBytes(f));
    }
    return most;
  }

  @Test
  void itsLastFrontIsTakenAndTheAnswerIsThatOfReflectors() {
    CsrMatrix a = Panels.anywhere(40_000, 600, 8, new Random(1));
    double[] b = TestMatrices.vector(a.rows(), new Random(3));
    var plain = SymbolicOptions.defaults().withOrdering(OrderingMethod.COLAMD);
    var gram = new ContractCase("panel, gram", a, b, 1, plain.withGram());
    assertThat(answersAsReflectors(a, b, gram)).isPositive();
  }

  /** The fronts taken by their Gram matrix. */
  private static long answersAsReflectors(CsrMatrix a, double[] b, ContractCase gram) {
    var plain = SymbolicOptions.defaults().withGiven(gram.analysis.permutation());
    var reflectors = new ContractCase("reflectors", a, b, 1, plain);
    try (var cpu = new CpuSubtreeFactorizer()) {
      TaskRun expected = run(cpu, reflectors, false);
      TaskRun found = run(cpu, gram, true);
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
      return found.summary.gram().tried() - found.summary.gram().refused();
    }
  }
}
