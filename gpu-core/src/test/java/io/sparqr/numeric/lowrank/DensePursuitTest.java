/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.lowrank;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.ludovic.netlib.lapack.JavaLAPACK;
import io.sparqr.error.DimensionMismatchException;
import io.sparqr.error.MatrixFormatException;
import io.sparqr.error.NonFiniteValueException;
import io.sparqr.matrix.gallery.LowRankPlusSparse;
import io.sparqr.matrix.gallery.MovingScene;
import io.sparqr.numeric.Tolerances;
import io.sparqr.numeric.dense.BlasLoader;
import io.sparqr.numeric.dense.DenseQr;
import io.sparqr.sparse.CsrMatrix;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.netlib.util.intW;

/** Known L and S are found again; an iteration's threshold is LAPACK's. */
class DensePursuitTest {

  private static final long SEED = Long.getLong("test.seed", 20261128L);

  private static final PursuitOptions TIGHT = PursuitOptions.DEFAULTS.withTolerance(1e-9);

  /** S as a dense row. */
  private static double[] row(CsrMatrix s, int i) {
    double[] row = new double[s.columns()];
    for (int e = s.rowStart()[i]; e < s.rowStart()[i + 1]; e++) {
      row[s.columnIndex()[e]] = s.values()[e];
    }
    return row;
  }

  private static double difference(double[][] a, double[][] b) {
    double squares = 0;
    double all = 0;
    for (int i = 0; i < a.length; i++) {
      for (int k = 0; k < a[i].length; k++) {
        double d = a[i][k] - b[i][k];
        squares += d * d;
        all += b[i][k] * b[i][k];
      }
    }
    return Math.sqrt(squares / all);
  }

  private static double[][] lowRank(DensePursuit found) {
    double[][] all = new double[found.rows()][];
    Arrays.setAll(all, found::lowRankRow);
    return all;
  }

  private static void requireOrthonormal(double[] q, int rows, int width) {
    for (int a = 0; a < width; a++) {
      for (int b = 0; b <= a; b++) {
        double sum = 0;
        for (int i = 0; i < rows; i++) {
          sum = Math.fma(q[i + a * rows], q[i + b * rows], sum);
        }
        assertThat(sum)
            .as("columns %d and %d", a, b)
            .isCloseTo(a == b ? 1 : 0, within(Tolerances.of(rows, width, 1)));
      }
    }
  }

  private static double residual(DensePursuit found, double[][] m) {
    double[][] sum = lowRank(found);
    for (int i = 0; i < m.length; i++) {
      double[] s = row(found.s(), i);
      for (int k = 0; k < s.length; k++) {
        sum[i][k] += s[k];
      }
    }
    return difference(sum, m);
  }

  /** Sizes in one part and in several, square and tall. */
  @ParameterizedTest
  @CsvSource({"120, 120, 6, 0.05", "400, 100, 5, 0.1", "9000, 60, 3, 0.05", "3000, 60, 3, 0.05"})
  void randomModelsAreRecoveredExactly(int m, int n, int rank, double fraction) {
    var model = new LowRankPlusSparse(m, n, rank, fraction, SEED);
    double[][] matrix = model.matrix();
    double[][] truth = new double[m][];
    Arrays.setAll(truth, model::lowRank);
    DensePursuit found = DensePursuit.decompose(matrix, TIGHT, 2);
    assertThat(found.converged()).isTrue();
    assertThat(found.warnings()).isEmpty();
    assertThat(found.rank()).as("seed %d", SEED).isEqualTo(rank);
    assertThat(difference(lowRank(found), truth))
        .as("seed %d", SEED)
        .isLessThan(Tolerances.RECOVERED);
    for (int i = 0; i < m; i++) {
      double[] expected = model.sparse(i);
      double[] s = row(found.s(), i);
      for (int k = 0; k < n; k++) {
        assertThat(s[k])
            .as("row %d, column %d", i, k)
            .isCloseTo(expected[k], within(Tolerances.RECOVERED));
      }
    }
    requireOrthonormal(found.u(), m, rank);
    requireOrthonormal(found.v(), n, rank);
    assertThat(found.sigma()).isSortedAccordingTo((a, b) -> Double.compare(b, a));
    List<PursuitIteration> history = found.history();
    PursuitIteration last = history.get(history.size() - 1);
    assertThat(last.number()).isEqualTo(history.size());
    assertThat(last.rank()).isEqualTo(rank);
    assertThat(last.nonzeros()).isEqualTo(found.s().nonzeros());
    double actual = residual(found, matrix);
    assertThat(actual).isLessThan(TIGHT.tolerance());
    assertThat(last.residual()).isCloseTo(actual, within(Tolerances.of(m, n, 1)));
  }

  /** Alternating directions have the same optimum, which the dual proves for both. */
  @Test
  void bothMethodsEndAtTheOptimum() {
    var model = new LowRankPlusSparse(300, 60, 3, 0.08, SEED + 1);
    double[][] matrix = model.matrix();
    double lambda = 1 / Math.sqrt(300);
    DensePursuit inexact = DensePursuit.decompose(matrix, TIGHT, 1);
    DensePursuit alternating =
        DensePursuit.decompose(matrix, TIGHT.withMethod(PursuitMethod.ADM), 1);
    for (DensePursuit found : List.of(inexact, alternating)) {
      PursuitOptimality optimality = found.optimality();
      assertThat(found.converged()).isTrue();
      assertThat(optimality.lambda()).isEqualTo(lambda);
      assertThat(optimality.residual()).isLessThan(TIGHT.tolerance());
      assertThat(optimality.dualNorm()).isCloseTo(1, within(Tolerances.RECOVERED));
      assertThat(optimality.dualMaximum()).isCloseTo(lambda, within(lambda * Tolerances.CERTIFIED));
      assertThat(optimality.gap()).isBetween(-Tolerances.CERTIFIED, Tolerances.CERTIFIED);
      double objective = 0;
      for (double x : found.sigma()) {
        objective += x;
      }
      for (int e = 0; e < found.s().nonzeros(); e++) {
        objective += lambda * Math.abs(found.s().values()[e]);
      }
      assertThat(optimality.objective())
          .isCloseTo(objective, within(Tolerances.REORDERED * objective));
    }
    assertThat(difference(lowRank(alternating), lowRank(inexact))).isLessThan(Tolerances.RECOVERED);
    assertThat(alternating.history()).hasSizeGreaterThan(inexact.history().size());
    assertThat(alternating.history())
        .extracting(PursuitIteration::mu)
        .containsOnly(alternating.history().get(0).mu());
  }

  /** A film with noise: L is nearer to the true background than noise alone would let one see. */
  @Test
  void figuresLeaveTheBackground() {
    double noise = 0.01;
    var scene = new MovingScene(36, 48, 60, noise, SEED);
    int m = scene.pixels();
    double[][] truth = new double[m][];
    Arrays.setAll(truth, scene::background);
    DensePursuit found = DensePursuit.decompose(scene.matrix(), PursuitOptions.DEFAULTS, 2);
    assertThat(found.converged()).isTrue();
    double[][] l = lowRank(found);
    double squares = 0;
    int covered = 0;
    int wrong = 0;
    for (int i = 0; i < m; i++) {
      double[] figures = scene.figures(i);
      double[] s = row(found.s(), i);
      for (int t = 0; t < scene.frames(); t++) {
        squares += (l[i][t] - truth[i][t]) * (l[i][t] - truth[i][t]);
        boolean figure = Math.abs(figures[t]) > 10 * noise;
        covered += figures[t] != 0 ? 1 : 0;
        wrong += figure != Math.abs(s[t]) > 5 * noise ? 1 : 0;
      }
    }
    double all = (double) m * scene.frames();
    assertThat(covered / all).isBetween(0.03, 0.08);
    assertThat(Math.sqrt(squares / all)).as("seed %d", SEED).isLessThan(noise);
    assertThat(wrong / all).as("seed %d", SEED).isLessThan(0.01);
  }

  /** L of a step, from R's SVD without Q, beside U max(sigma - t, 0) V' by LAPACK's dgesvd of W. */
  @ParameterizedTest
  @CsvSource({"0.05", "0.5", "1.5", "20"})
  void aStepThresholdsAsLapackDoes(double part) {
    int m = 90;
    int n = 12;
    var random = new Random(SEED);
    double[] w = new double[m * n];
    for (int j = 0; j < n; j++) {
      for (int i = 0; i < m; i++) {
        w[i + j * m] = random.nextGaussian() * Math.pow(10, -8.0 * j / (n - 1));
      }
    }
    double[] sigma = new double[n];
    double[] u = new double[m * n];
    double[] vt = new double[n * n];
    double[] work = new double[10_000];
    JavaLAPACK.getInstance()
        .dgesvd("S", "S", m, n, w.clone(), m, sigma, u, m, vt, n, work, work.length, new intW(0));
    double t = part * sigma[n / 2];
    double[] expected = new double[m * n];
    for (int k = 0; k < n; k++) {
      double kept = Math.max(sigma[k] - t, 0);
      for (int j = 0; j < n; j++) {
        for (int i = 0; i < m; i++) {
          expected[i + j * m] += u[i + k * m] * kept * vt[k + j * n];
        }
      }
    }
    PursuitStep step = step(w, m, n, t);
    assertThat(step.rank()).isEqualTo((int) Arrays.stream(sigma).filter(x -> x > t).count());
    double[] l = new double[m * n];
    step.threshold(BlasLoader.kernels(), w, m, l, new double[m * n]);
    Tolerances.requireClose(l, expected, Tolerances.of(m, n, sigma[0]), "L");
    double[] f = step.factor(BlasLoader.kernels(), w, m);
    for (int i = 0; i < m; i++) {
      double[] row = new double[step.rank()];
      for (int k = 0; k < row.length; k++) {
        row[k] = f[i + k * m];
      }
      double[] of = step.lowRankRow(row);
      for (int j = 0; j < n; j++) {
        assertThat(of[j]).isCloseTo(expected[i + j * m], within(Tolerances.of(m, n, sigma[0])));
      }
    }
  }

  /** The step that has this threshold. */
  private static PursuitStep step(double[] w, int m, int n, double t) {
    double[] r =
        DenseQr.builder(BlasLoader.kernels(), n, io.sparqr.threads.Crew.ALONE)
            .rows(w, m, m)
            .factor()
            .r();
    double[] sigma = new double[n];
    double[] vt = new double[n * n];
    io.sparqr.numeric.dense.SmallDense.svd(r, n, sigma, new double[n * n], vt);
    var start = new PursuitStart(PursuitMethod.ADM, 1, 1, 1, 1 / t, 0);
    return new PursuitStep(BlasLoader.kernels(), start, n, sigma, vt, 1 / t, 1 / t);
  }

  @ParameterizedTest
  @EnumSource(PursuitMethod.class)
  void threadsAndRunsChangeNoBit(PursuitMethod method) {
    double[][] matrix = new LowRankPlusSparse(7000, 80, 4, 0.05, SEED + 2).matrix();
    PursuitOptions options = PursuitOptions.DEFAULTS.withMethod(method).withMaxIterations(5);
    DensePursuit one = DensePursuit.decompose(matrix, options, 1);
    for (int threads : new int[] {1, 3}) {
      DensePursuit again = DensePursuit.decompose(matrix, options, threads);
      assertThat(again.u()).isEqualTo(one.u());
      assertThat(again.sigma()).isEqualTo(one.sigma());
      assertThat(again.v()).isEqualTo(one.v());
      assertThat(again.s().values()).isEqualTo(one.s().values());
      assertThat(again.history()).isEqualTo(one.history());
      assertThat(again.optimality()).isEqualTo(one.optimality());
    }
  }

  /** A power of two on all values is one on L, S and mu, also where squares leave the range. */
  @Test
  void scaleIsOnlyScale() {
    double[][] matrix = new LowRankPlusSparse(150, 30, 2, 0.05, SEED + 3).matrix();
    DensePursuit one = DensePursuit.decompose(matrix, PursuitOptions.DEFAULTS, 1);
    for (int exponent : new int[] {100, -100, 900, -900}) {
      double[][] scaled = new double[matrix.length][];
      Arrays.setAll(
          scaled, i -> Arrays.stream(matrix[i]).map(x -> Math.scalb(x, exponent)).toArray());
      DensePursuit found = DensePursuit.decompose(scaled, PursuitOptions.DEFAULTS, 1);
      assertThat(found.history()).hasSameSizeAs(one.history());
      assertThat(found.rank()).isEqualTo(one.rank());
      for (int k = 0; k < one.rank(); k++) {
        assertThat(Math.scalb(found.sigma()[k], -exponent))
            .isCloseTo(one.sigma()[k], within(Tolerances.of(150, 30, one.sigma()[0])));
      }
      for (int k = 0; k < one.history().size(); k++) {
        double mu = one.history().get(k).mu();
        assertThat(Math.scalb(found.history().get(k).mu(), exponent))
            .isCloseTo(mu, within(Tolerances.of(150, 30, mu)));
      }
    }
  }

  @Test
  void whatDoesNotConvergeSaysSo() {
    double[][] matrix = new LowRankPlusSparse(100, 20, 2, 0.05, SEED).matrix();
    DensePursuit found =
        DensePursuit.decompose(matrix, PursuitOptions.DEFAULTS.withMaxIterations(3), 1);
    assertThat(found.converged()).isFalse();
    assertThat(found.history()).hasSize(3);
    assertThat(found.warnings()).hasSize(1);
    assertThat(found.warnings().get(0))
        .startsWith("not converged: after 3 iterations ||M - L - S|| is ")
        .contains(" of ||M||, the tolerance 1.0e-07; the multiplier changes by ");
    assertThat(found.toString()).endsWith(", 3 iterations, not converged]");
    assertThat(residual(found, matrix))
        .isCloseTo(found.optimality().residual(), within(Tolerances.of(100, 20, 1)));
    assertThat(found.optimality().gap()).isGreaterThan(10 * Tolerances.CERTIFIED);
  }

  /** So large a weight lets S be empty, so small a one L. */
  @Test
  void theWeightDecidesWhatIsWhere() {
    double[][] matrix = new LowRankPlusSparse(60, 8, 2, 0.1, SEED).matrix();
    DensePursuit dense = DensePursuit.decompose(matrix, PursuitOptions.DEFAULTS.withLambda(100), 1);
    assertThat(dense.s().nonzeros()).isZero();
    assertThat(dense.rank()).isEqualTo(8);
    assertThat(difference(lowRank(dense), matrix)).isLessThan(Tolerances.RECOVERED);
    DensePursuit sparse =
        DensePursuit.decompose(matrix, PursuitOptions.DEFAULTS.withLambda(1e-3), 1);
    assertThat(sparse.rank()).isZero();
    assertThat(sparse.u()).isEmpty();
    assertThat(residual(sparse, matrix)).isLessThan(Tolerances.RECOVERED);
    double[][] column = {{3}, {-4}, {0}};
    assertThat(residual(DensePursuit.decompose(column, PursuitOptions.DEFAULTS, 1), column))
        .isLessThan(Tolerances.RECOVERED);
  }

  @Test
  void badInputIsOneError() {
    double[][] a = new LowRankPlusSparse(20, 3, 1, 0.1, SEED).matrix();
    requireError(new double[0][], MatrixFormatException.class, "a matrix without rows");
    requireError(new double[2][0], MatrixFormatException.class, "a matrix without columns");
    requireError(
        new double[5][2],
        MatrixFormatException.class,
        "all values are zero: there is nothing to find");
    requireError(
        new double[][] {{1, 2}, {3}},
        DimensionMismatchException.class,
        "row 1 has 1 values, those before it 2");
    requireError(
        new double[][] {{1, 2}},
        DimensionMismatchException.class,
        "1 rows, 2 columns: at least as many rows as columns are needed; decompose the transpose");
    a[7][1] = Double.NaN;
    requireError(a, NonFiniteValueException.class, "row 7 has NaN in column 1");
    PursuitOptions options = PursuitOptions.DEFAULTS;
    for (double wrong : new double[] {0, -1, Double.NaN, Double.POSITIVE_INFINITY}) {
      assertThatThrownBy(() -> options.withLambda(wrong))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("lambda " + wrong + ": a finite number above 0");
      assertThatThrownBy(() -> options.withTolerance(wrong == 0 ? 1 : wrong))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageStartingWith("tolerance ");
    }
    assertThatThrownBy(() -> options.withMaxIterations(0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("at most 0 iterations: at least 1");
  }

  private static void requireError(double[][] rows, Class<?> type, String message) {
    assertThatThrownBy(() -> DensePursuit.decompose(rows, PursuitOptions.DEFAULTS, 1))
        .isInstanceOf(type)
        .hasMessage(message);
  }
}
