/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.reference;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.FrontFactor;
import io.sparqr.numeric.RowSplit;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeFactorizer;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.TestMatrices;
import io.sparqr.numeric.Tolerances;
import io.sparqr.ordering.dissection.NestedDissection;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * A problem whose bits several devices compare with those of one.
 *
 * @param grid whether it is one with many fronts
 */
public record DeviceBits(
    CsrMatrix a, SymbolicAnalysis analysis, int rhs, double tolerance, boolean grid) {

  /** A sparse problem in the order of a nested dissection. */
  public static DeviceBits of(CsrMatrix a, int rhs, boolean grid) {
    var options = SymbolicOptions.defaults().withGiven(new NestedDissection().order(a.pattern()));
    return new DeviceBits(
        a,
        SymbolicAnalyzer.analyze(a.pattern(), options.withSingletons(false)),
        rhs,
        FactorOptions.defaultTolerance(a.rows(), a.columns(), Tolerances.frobenius(a)),
        grid);
  }

  /** Factors it; the right-hand sides are random. */
  public SubtreeFactor run(SubtreeFactorizer factorizer, FactorOptions options) {
    double[] ones = new double[a.columns()];
    Arrays.fill(ones, 1);
    double[] b = TestMatrices.vector(a.rows() * rhs, new Random(7));
    int[] fronts = new int[analysis.fronts()];
    Arrays.setAll(fronts, f -> f);
    RowSplit split = RowSplit.of(a, b, rhs, analysis, ones);
    var problem = new SubtreeProblem(analysis, fronts, split.rows(), List.of());
    return factorizer.factor(problem, options);
  }

  /** Full rank, tall, and with dead columns from the leaves to the root. */
  public static List<DeviceBits> cases() {
    CsrMatrix grid = Gallery.generate("gen:cells2d16");
    var random = new Random(3);
    double[] values = grid.values().clone();
    for (int j = 0; j < grid.columns(); j++) {
      if (random.nextInt(12) == 0) {
        for (int k = 0; k < grid.nonzeros(); k++) {
          values[k] = grid.columnIndex()[k] == j ? 0 : values[k];
        }
      }
    }
    var dead =
        new CsrMatrix(grid.rows(), grid.columns(), grid.rowStart(), grid.columnIndex(), values);
    return List.of(
        DeviceBits.of(grid, 1, true),
        DeviceBits.of(TestMatrices.sparse(900, 130, 4, new Random(5)), 0, false),
        DeviceBits.of(TestMatrices.sparse(300, 260, 3, new Random(6)), 3, false),
        DeviceBits.of(dead, 2, true));
  }

  /** Asserts that R, right-hand sides, residuals and stages are the same. */
  public static void assertSame(SubtreeFactor actual, SubtreeFactor expected, String what) {
    assertSameValues(actual, expected, what);
    assertThat(actual.summary().stages()).as(what).isEqualTo(expected.summary().stages());
  }

  /** Asserts that R, right-hand sides and residuals are the same. */
  public static void assertSameValues(SubtreeFactor actual, SubtreeFactor expected, String what) {
    assertSameRows(actual, expected, what);
    assertThat(actual.residualSquares()).as(what).isEqualTo(expected.residualSquares());
  }

  /** Asserts that R and right-hand sides are the same. */
  static void assertSameRows(SubtreeFactor actual, SubtreeFactor expected, String what) {
    assertThat(actual.fronts()).hasSameSizeAs(expected.fronts());
    for (int f = 0; f < expected.fronts().size(); f++) {
      FrontFactor x = actual.fronts().get(f);
      FrontFactor y = expected.fronts().get(f);
      assertThat(x.livePivot()).as("%s: front %d", what, f).isEqualTo(y.livePivot());
      assertThat(TestMatrices.rowsOfR(x))
          .as("%s: front %d", what, f)
          .isEqualTo(TestMatrices.rowsOfR(y));
      assertThat(x.rhs()).as("%s: front %d", what, f).isEqualTo(y.rhs());
    }
  }
}
