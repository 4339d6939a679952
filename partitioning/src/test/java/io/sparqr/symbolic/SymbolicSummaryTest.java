/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.ordering.OrderingMethod;
import io.sparqr.sparse.SparsityPattern;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The summary's numbers against brute force and against results by hand. */
class SymbolicSummaryTest {

  @Test
  void entriesOfRAreThoseOfTheCholeskyFactorWhereRowsSuffice() {
    for (int it = 0; it < 100; it++) {
      int n = 12;
      Random random = new Random(99 + it);
      SparsityPattern sparse = Patterns.random(random, 30, n, 3);
      // n full-rank rows: a diagonal, so that no front lacks rows.
      SparsityPattern a = Patterns.withDiagonal(sparse);
      SymbolicAnalysis s =
          SymbolicAnalyzer.analyze(
              a,
              SymbolicOptions.defaults()
                  .withOrdering(OrderingMethod.COLAMD)
                  .withAmalgamation(Amalgamation.none()));
      int[] position = s.permutation().inverseArray();
      StructureOracle oracle = StructureOracle.of(a, position, s.singletons());
      double entries = 0;
      for (int j = s.singletons(); j < n; j++) {
        entries += 1 + oracle.beyond(j).size();
      }
      for (int p = 0; p < a.patterns(); p++) {
        List<Integer> row = StructureOracle.row(a, p, position);
        entries += !row.isEmpty() && row.get(0) < s.singletons() ? row.size() : 0;
      }
      SymbolicSummary summary = SymbolicSummary.of(s, 1);
      assertThat(summary.nonzerosOfR()).as("iteration %d", it).isEqualTo(entries);
      assertThat(summary.histogram().stream().mapToInt(SymbolicSummary.Bin::fronts).sum())
          .isEqualTo(s.fronts());
    }
  }

  @Test
  void aTreeByHand() {
    // Two leaves {0 | 2} and {1 | 2} of three rows each under a root of one column.
    SparsityPattern a =
        new SparsityPattern(3, new long[] {0, 2, 4}, new int[] {0, 2, 1, 2}, new long[] {3, 3});
    SymbolicAnalysis s =
        SymbolicAnalyzer.analyze(
            a,
            SymbolicOptions.defaults()
                .withOrdering(OrderingMethod.NATURAL)
                .withAmalgamation(Amalgamation.none()));
    SymbolicSummary summary = SymbolicSummary.of(s, 0);
    assertThat(summary.fronts()).isEqualTo(3);
    assertThat(summary.leaves()).isEqualTo(2);
    assertThat(summary.height()).isEqualTo(2);
    assertThat(summary.nonzerosOfR()).isEqualTo(5);
    // A leaf is 3 x 2 and full, the root 2 x 1.
    double leaf = 3 * (3 + 4) + 2 * 3;
    double root = 2 * 3;
    assertThat(summary.flops()).isEqualTo(2 * leaf + root);
    // Fronts so small are not tiled, and these have no zeros to skip.
    assertThat(summary.tileFlops()).isEqualTo(summary.flops());
    assertThat(summary.criticalPathFlops()).isEqualTo(leaf + root);
    assertThat(summary.frontBytes()).isEqualTo(8 * (6 + 6 + 2));
    assertThat(summary.peakBytes()).isEqualTo(8 * (6 + 1));
    assertThat(summary.toString())
        .contains("3 fronts, 2 leaves, height 2")
        .contains("work in tiles         60 flop (1.00 times)");
  }

  @Test
  void textNeverDependsOnTheLocale() {
    assertThat(SymbolicSummary.flopsText(1.9e12)).isEqualTo("1.90 Tflop");
    assertThat(SymbolicSummary.bytesText(3L << 30)).isEqualTo("3.00 GiB");
    assertThat(SymbolicSummary.bytesText(12)).isEqualTo("12 B");
  }
}
