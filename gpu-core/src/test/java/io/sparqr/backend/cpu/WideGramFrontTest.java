/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.numeric.ColumnNorms;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.FrontFactor;
import io.sparqr.numeric.RowSplit;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.Tolerances;
import io.sparqr.numeric.dense.BlasLoader;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** A front so wide that its Gram matrix is in several arrays, beside reflectors. */
class WideGramFrontTest {

  private static final int ROWS = 3_600;
  private static final int COLUMNS = 1_200;
  private static final double SMALL = 1e-8;

  /** Rows of R are those of reflectors up to the condition of these columns. */
  private static final double NEAR = 1e4 * Tolerances.REORDERED;

  private static final SubtreeProblem PROBLEM = problem();
  private static final SubtreeFactor EXPECTED = factor(SMALL, false, 2);

  private static SubtreeProblem problem() {
    var random = new Random(4);
    int[] start = new int[ROWS + 1];
    int[] column = new int[20 * ROWS];
    for (int i = 0; i < ROWS; i++) {
      // The first column in all rows, so that the others meet.
      int[] own = random.ints(1, COLUMNS).distinct().limit(19).sorted().toArray();
      System.arraycopy(own, 0, column, 20 * i + 1, 19);
      start[i + 1] = 20 * (i + 1);
    }
    double[] value = random.doubles(column.length, -1, 1).toArray();
    var a = new CsrMatrix(ROWS, COLUMNS, start, column, value);
    double[] b = new Random(5).doubles(2L * ROWS, -1, 1).toArray();
    var options = SymbolicOptions.defaults().withOrdering(OrderingMethod.NATURAL).withGram();
    var analysis = SymbolicAnalyzer.analyze(a.pattern(), options.withSingletons(false));
    var norms = new ColumnNorms(a.columns());
    for (int k = 0; k < a.nonzeros(); k++) {
      norms.add(a.columnIndex()[k], a.values()[k]);
    }
    var rows = RowSplit.of(a, b, 2, analysis, norms.factors()).rows();
    int[] all = IntStream.range(0, analysis.fronts()).toArray();
    return new SubtreeProblem(analysis, all, rows, List.of());
  }

  private static SubtreeFactor factor(double tolerance, boolean gram, int threads) {
    try (var cpu = new CpuSubtreeFactorizer(BlasLoader.kernels(), (tree, index) -> true)) {
      return cpu.factor(PROBLEM, new FactorOptions(tolerance, threads, 0).gram(gram));
    }
  }

  private static void hasSameRows(SubtreeFactor made, SubtreeFactor reference) {
    assertThat(made.summary().rank()).isEqualTo(reference.summary().rank());
    for (int f = 0; f < made.fronts().size(); f++) {
      FrontFactor r = made.fronts().get(f);
      FrontFactor other = reference.fronts().get(f);
      assertThat(r.livePivot()).as("front %d", f).isEqualTo(other.livePivot());
      for (int k = 0; k < r.values().capacity(); k++) {
        assertThat(r.values().get(k)).isCloseTo(other.values().get(k), within(NEAR));
      }
      for (int k = 0; k < r.rhs().length; k++) {
        assertThat(r.rhs()[k]).isCloseTo(other.rhs()[k], within(NEAR * Math.sqrt(ROWS)));
      }
    }
  }

  @Test
  void theRowsAreThoseOfReflectors() {
    SubtreeFactor made = factor(SMALL, true, 2);
    assertThat(PROBLEM.analysis().fn(PROBLEM.analysis().fronts() - 1)).isGreaterThan(1_100);
    assertThat(made.summary().gram().tried()).isPositive();
    assertThat(made.summary().gram().refused()).isZero();
    hasSameRows(made, EXPECTED);
    SubtreeFactor alone = factor(SMALL, true, 1);
    for (int f = 0; f < made.fronts().size(); f++) {
      assertThat(alone.fronts().get(f).values()).isEqualTo(made.fronts().get(f).values());
    }
  }

  /** Then rows move up in the last front, and those below are reflected. */
  @Test
  void aLargeToleranceDropsTheSameColumnsOfTheLastFront() {
    FrontFactor last = EXPECTED.fronts().get(EXPECTED.fronts().size() - 1);
    double[] diagonal = new double[last.rank()];
    for (int i = 0, at = 0; i < diagonal.length; i++) {
      diagonal[i] = last.values().get(at);
      at += last.fn() - last.livePivot()[i];
    }
    Arrays.sort(diagonal);
    double tolerance = (diagonal[9] + diagonal[10]) / 2;
    SubtreeFactor made = factor(tolerance, true, 2);
    assertThat(made.summary().gram().tried()).isPositive();
    assertThat(made.summary().gram().refused()).isZero();
    SubtreeFactor reference = factor(tolerance, false, 2);
    assertThat(reference.summary().rank()).isLessThan(EXPECTED.summary().rank());
    hasSameRows(made, reference);
    assertThat(made.summary().droppedNorm())
        .isCloseTo(reference.summary().droppedNorm(), within(NEAR));
  }
}
