/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeout;

import io.sparqr.ordering.OrderingMethod;
import io.sparqr.sparse.SparsityPattern;
import java.time.Duration;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Shapes on which recursion, quadratic steps or int products would fail. A quadratic step takes
 * hours here: the limits leave room for machines that are busy.
 */
class LargeStructureTest {

  private static final SymbolicOptions NATURAL =
      SymbolicOptions.defaults().withOrdering(OrderingMethod.NATURAL);

  @Test
  void aPathOfAMillionColumns() {
    SparsityPattern a = Patterns.tridiagonal(1_000_000);
    SymbolicAnalysis s =
        assertTimeout(
            Duration.ofMinutes(2),
            () -> SymbolicAnalyzer.analyze(a, NATURAL.withAmalgamation(Amalgamation.none())));
    assertThat(s.fronts()).isEqualTo(999_999);
    assertThat(s.firstPivot(s.fronts() - 1)).isEqualTo(999_998);
    // Each front but the last two-column one: rows {i} and {i, i+1} and one from its child.
    assertThat(s.fm(0)).isEqualTo(2);
    assertThat(s.fm(10)).isEqualTo(3);
    assertThat(s.cm(10)).isEqualTo(1);
  }

  @Test
  void aStarOfAMillionColumns() {
    SparsityPattern a = Patterns.arrow(1_000_000);
    SymbolicAnalysis s =
        assertTimeout(
            Duration.ofMinutes(2),
            () -> SymbolicAnalyzer.analyze(a, NATURAL.withAmalgamation(Amalgamation.none())));
    int root = s.fronts() - 1;
    assertThat(s.childCount(root)).isEqualTo(s.fronts() - 1);
    assertThat(s.fp(root) + (long) s.childCount(root)).isEqualTo(1_000_000);
  }

  /** Merged into one front: as many rows as columns, but only the last column meets all of them. */
  @ParameterizedTest
  @ValueSource(ints = {4_000, 46_500, 1_000_000})
  void aDenseRowAmongShortOnes(int n) {
    SparsityPattern a = Patterns.denseRow(n);
    SymbolicAnalysis s =
        assertTimeout(Duration.ofMinutes(2), () -> SymbolicAnalyzer.analyze(a, NATURAL));
    long most = Math.max(FundamentalSupernodes.CUT_ENTRIES, (long) n * n / 64);
    double entriesOfR = 0;
    for (int f = 0; f < s.fronts(); f++) {
      assertThat((double) s.fm(f) * s.fn(f)).as("entries of front %d", f).isLessThanOrEqualTo(most);
      assertThat(s.cm(f)).isEqualTo(f == s.fronts() - 1 ? 0 : 1);
      entriesOfR += 0.5 * s.fp(f) * (2.0 * s.fn(f) - s.fp(f) + 1);
    }
    assertThat(entriesOfR).isEqualTo(0.5 * n * (n + 1.0));
    assertThat(s.fronts()).isLessThanOrEqualTo((int) (1 + 64 * Math.log(n)));
    if (n == 4_000) {
      assertThat(s.fronts()).isEqualTo(1);
    }
  }

  @Test
  void aDenseFrontStaysWholeHoweverLarge() {
    int n = 20_000;
    int[] all = new int[n];
    Arrays.setAll(all, j -> j);
    SparsityPattern a = new SparsityPattern(n, new long[] {0, n}, all, new long[] {2 * n});
    SymbolicAnalysis s = SymbolicAnalyzer.analyze(a, NATURAL);
    assertThat(s.fronts()).isEqualTo(1);
    assertThat(s.fm(0)).isEqualTo(2 * n);
  }

  @Test
  void amalgamationOfAPathIsLinearAndMakesWiderFronts() {
    SparsityPattern a = Patterns.tridiagonal(1_000_000);
    SymbolicAnalysis s =
        assertTimeout(Duration.ofMinutes(2), () -> SymbolicAnalyzer.analyze(a, NATURAL));
    assertThat(s.fronts()).isLessThan(400_000);
  }

  @Test
  void aTrillionRowsDoNotOverflow() {
    long many = 1_000_000_000_000L;
    SparsityPattern a =
        new SparsityPattern(
            3, new long[] {0, 2, 5}, new int[] {0, 1, 0, 1, 2}, new long[] {many, 2 * many});
    SymbolicAnalysis s = SymbolicAnalyzer.analyze(a, NATURAL);
    assertThat(s.rows()).isEqualTo(3 * many);
    assertThat(s.nonzeros()).isEqualTo(8 * many);
    assertThat(s.fm(0)).isEqualTo(3 * many);
    assertThat(s.frontFlops(0))
        .isCloseTo(3.0 * many * (11 + 7 + 3), org.assertj.core.data.Offset.offset(1e3));
    assertThat(FrontMemory.frontBytes(Long.MAX_VALUE / 4, 1000, 1)).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void degenerateShapes() {
    SparsityPattern none = new SparsityPattern(4, new long[] {0}, new int[0], new long[0]);
    SymbolicAnalysis s = SymbolicAnalyzer.analyze(none, NATURAL);
    assertThat(s.fronts()).isEqualTo(1);
    assertThat(s.fm(0)).isZero();
    assertThat(s.fp(0)).isEqualTo(4);
    SparsityPattern zero = new SparsityPattern(0, new long[] {0, 0}, new int[0], new long[] {7});
    SymbolicAnalysis z = SymbolicAnalyzer.analyze(zero, SymbolicOptions.defaults());
    assertThat(z.fronts()).isZero();
    assertThat(z.emptyRows()).isEqualTo(7);
    SparsityPattern wide =
        new SparsityPattern(5, new long[] {0, 5}, new int[] {0, 1, 2, 3, 4}, new long[] {2});
    SymbolicAnalysis w = SymbolicAnalyzer.analyze(wide, NATURAL);
    assertThat(w.fm(0)).isEqualTo(2);
    assertThat(w.cm(0)).isZero();
  }
}
