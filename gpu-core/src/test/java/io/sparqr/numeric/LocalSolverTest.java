/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.backend.cpu.CpuSubtreeFactorizer;
import io.sparqr.error.NonFiniteValueException;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import java.util.Arrays;
import java.util.OptionalDouble;
import java.util.Random;
import org.junit.jupiter.api.Test;

class LocalSolverTest {

  private final CpuSubtreeFactorizer backend = new CpuSubtreeFactorizer();

  private LocalSolver solver(int threads) {
    return new LocalSolver(backend, SymbolicOptions.defaults(), threads);
  }

  @Test
  void solvesByHand() {
    // Points (0, 1), (1, 2), (2, 4): the line 5/6 + 3/2 t, residuals 1/6, -1/3, 1/6.
    CsrMatrix a = TestMatrices.ofDense(new double[][] {{1, 0}, {1, 1}, {1, 2}}, 2, false);
    var s = solver(1).solve(a, new double[] {1, 2, 4}, 1);
    double limit = Tolerances.of(3, 2, 1);
    assertThat(s.x()[0]).isCloseTo(5.0 / 6, within(limit));
    assertThat(s.x()[1]).isCloseTo(1.5, within(limit));
    assertThat(s.residualNorm()[0]).isCloseTo(Math.sqrt(1.0 / 6), within(limit));
  }

  @Test
  void singletonsWithTinyPivotsAreAnalyzedAgain() {
    // Column 0 is a singleton by pattern, but far below the tolerance.
    double[][] a = new double[12][4];
    var random = new Random(3);
    a[0][0] = 1e-30;
    for (int i = 1; i < 12; i++) {
      a[i][1] = random.nextGaussian();
      a[i][2] = random.nextGaussian();
      a[i][3] = a[i][1] + a[i][2];
    }
    a[0][1] = 1;
    a[0][3] = 1;
    CsrMatrix matrix = TestMatrices.ofDense(a, 4, false);
    double[] b = TestMatrices.vector(12, random);
    var unscaled =
        new LocalSolver(backend, SymbolicOptions.defaults(), OptionalDouble.empty(), false, 1);
    var s = unscaled.solve(matrix, b, 1);
    assertThat(s.factorization().rank()).isEqualTo(2);
    assertThat(s.factorization().deadColumns()).hasSize(2).contains(0);
    assertThat(s.x()[0]).isZero();
    assertThat(solver(1).solve(matrix, b, 1).factorization().rank()).isEqualTo(3);
  }

  /** R is a dense triangle, in more than one front; x by Sherman and Morrison's formula. */
  @Test
  void aDenseRowAmongShortOnes() {
    int n = 5000;
    var random = new Random(9);
    double[] d = random.doubles(n, 1, 2).toArray();
    double[] w = TestMatrices.vector(n, random);
    double[] b = TestMatrices.vector(n + 1, random);
    int[] start = new int[n + 2];
    int[] index = new int[2 * n];
    Arrays.setAll(start, i -> i <= n ? i : 2 * n);
    Arrays.setAll(index, k -> k % n);
    double[] values = Arrays.copyOf(d, 2 * n);
    System.arraycopy(w, 0, values, n, n);
    var a = new CsrMatrix(n + 1, n, start, index, values);
    var analysis = SymbolicAnalyzer.analyze(a.pattern(), SymbolicOptions.defaults());
    assertThat(analysis.fronts()).isGreaterThan(1);
    var s = solver(2).solve(a, b, 1, analysis);
    // (D^2 + w w') x = D b + w beta: x = y - z w'y / (1 + w'z), D^2 y = D b + w beta, D^2 z = w.
    double wy = 0;
    double wz = 0;
    for (int j = 0; j < n; j++) {
      wy += w[j] * (b[j] / d[j] + w[j] * b[n] / (d[j] * d[j]));
      wz += w[j] * w[j] / (d[j] * d[j]);
    }
    double tolerance = Tolerances.of(n + 1, n, Tolerances.norm(b));
    for (int j = 0; j < n; j++) {
      double y = b[j] / d[j] + w[j] * b[n] / (d[j] * d[j]);
      double x = y - w[j] / (d[j] * d[j]) * wy / (1 + wz);
      assertThat(s.x()[j]).as("x[%d]", j).isCloseTo(x, within(tolerance));
    }
    assertThat(s.factorization().rank()).isEqualTo(n);
  }

  @Test
  void unitsOfColumnsAndRightHandSidesDoNotMatter() {
    var random = new Random(4);
    CsrMatrix a = TestMatrices.sparse(300, 80, 3, random);
    double[] b = TestMatrices.vector(300, random);
    var s = solver(2).solve(a, b, 1);
    double[] unit = new double[80];
    Arrays.setAll(unit, j -> Math.scalb(1.0, 37 * (j % 19) - 300));
    double[] scaled = a.values().clone();
    for (int k = 0; k < a.nonzeros(); k++) {
      scaled[k] *= unit[a.columnIndex()[k]];
    }
    var as = new CsrMatrix(300, 80, a.rowStart(), a.columnIndex(), scaled);
    double[] big = b.clone();
    Arrays.setAll(big, i -> b[i] * 0x1p+600);
    var t = solver(2).solve(as, big, 1);
    assertThat(t.factorization().rank()).isEqualTo(s.factorization().rank());
    assertThat(t.residualNorm()[0] * 0x1p-600)
        .isCloseTo(s.residualNorm()[0], within(Tolerances.of(300, 80, Tolerances.norm(b))));
    for (int j = 0; j < 80; j++) {
      double xj = t.x()[j] * 0x1p-600 * unit[j];
      assertThat(xj).isCloseTo(s.x()[j], within(Tolerances.RANDOM * Tolerances.norm(s.x())));
    }
  }

  @Test
  void semiNormalEquationsGiveTheSameAnswer() {
    var random = new Random(5);
    CsrMatrix a = TestMatrices.sparse(500, 120, 3, random);
    double[] b = TestMatrices.vector(500, random);
    var s = solver(1).solve(a, b, 1);
    double[] x = s.factorization().solveSemiNormal(a.multiplyTransposed(b));
    double[] r = a.multiply(x);
    Arrays.setAll(r, i -> b[i] - r[i]);
    double[] correction = s.factorization().solveSemiNormal(a.multiplyTransposed(r));
    double[] difference = new double[x.length];
    Arrays.setAll(difference, j -> x[j] + correction[j] - s.x()[j]);
    double[] ad = a.multiply(difference);
    assertThat(Tolerances.norm(ad))
        .isLessThanOrEqualTo(Tolerances.of(500, 120, Tolerances.norm(b)));
  }

  @Test
  void refusesWhatIsNotFinite() {
    CsrMatrix a = TestMatrices.ofDense(new double[][] {{1, 2}, {3, Double.NaN}, {1, 1}}, 2, true);
    assertThatThrownBy(() -> solver(1).solve(a, new double[3], 1))
        .isInstanceOf(NonFiniteValueException.class)
        .hasMessageContaining("row 1")
        .hasMessageContaining("column 1");
    CsrMatrix ok = TestMatrices.ofDense(new double[][] {{1, 2}, {3, 1}, {1, 1}}, 2, true);
    double[] b = {1, Double.POSITIVE_INFINITY, 2};
    assertThatThrownBy(() -> solver(1).solve(ok, b, 1))
        .isInstanceOf(NonFiniteValueException.class)
        .hasMessageContaining("row 1");
  }

  @Test
  void columnNormsDoNotOverflowAndMerge() {
    double[] values = {3e200, 4e200, 1e-310, 5, -12, 0, 7e-200, 24e-200};
    var one = new ColumnNorms(4);
    var two = new ColumnNorms(4);
    for (int k = 0; k < values.length; k++) {
      (k % 2 == 0 ? one : two).add(k / 2, values[k]);
    }
    one.merge(two);
    assertThat(one.norm(0)).isCloseTo(5e200, within(Tolerances.roundings(4, 5e200)));
    assertThat(one.norm(1)).isEqualTo(5);
    assertThat(one.norm(2)).isEqualTo(12);
    assertThat(one.norm(3)).isCloseTo(25e-200, within(Tolerances.roundings(4, 25e-200)));
    assertThat(new ColumnNorms(1).factors()).containsExactly(1);
  }

  @Test
  void orderingsAgree() {
    var random = new Random(9);
    CsrMatrix a = TestMatrices.sparse(900, 400, 2, random);
    double[] b = TestMatrices.vector(900, random);
    double first = -1;
    for (var method :
        new OrderingMethod[] {OrderingMethod.NATURAL, OrderingMethod.COLAMD, OrderingMethod.AMD}) {
      var options = SymbolicOptions.defaults().withOrdering(method);
      double norm = new LocalSolver(backend, options, 2).solve(a, b, 1).residualNorm()[0];
      first = first < 0 ? norm : first;
      assertThat(norm)
          .as("%s", method)
          .isCloseTo(first, within(Tolerances.of(900, 400, Tolerances.norm(b))));
    }
  }
}
