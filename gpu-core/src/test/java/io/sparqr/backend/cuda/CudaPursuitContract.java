/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.matrix.gallery.LowRankPlusSparse;
import io.sparqr.numeric.Tolerances;
import io.sparqr.numeric.lowrank.DensePursuit;
import io.sparqr.numeric.lowrank.PlacedPursuit;
import io.sparqr.numeric.lowrank.PursuitMethod;
import io.sparqr.numeric.lowrank.PursuitOptions;
import io.sparqr.numeric.lowrank.RightSvd;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Robust PCA whose iterations are on a device, beside that of the host. */
abstract class CudaPursuitContract {

  private static final long SEED = 20261130;
  private static final PursuitOptions TIGHT = PursuitOptions.DEFAULTS.withTolerance(1e-10);

  abstract DeviceSessions sessions();

  private DensePursuit onDevice(double[][] m, PursuitOptions options) {
    DeviceSessions its = sessions();
    return PlacedPursuit.decompose(
            m, options, 2, rows -> Optional.of(new CudaPursuit(its, 0, rows, 2)))
        .orElseThrow();
  }

  /** Widths that fill no tile, heights that fill no block, a column, and square ones. */
  @ParameterizedTest
  @CsvSource({
    "120, 30, 2, 0.05",
    "400, 64, 3, 0.05",
    "331, 33, 2, 0.04",
    "64, 1, 1, 0",
    "95, 95, 4, 0.03"
  })
  void theResultIsThatOfTheHost(int m, int n, int rank, double fraction) {
    double[][] matrix = new LowRankPlusSparse(m, n, rank, fraction, SEED).matrix();
    DensePursuit here = DensePursuit.decompose(matrix, TIGHT, 2);
    DensePursuit there = onDevice(matrix, TIGHT);
    assertThat(there.converged()).isTrue();
    assertThat(there.rank()).isEqualTo(here.rank());
    double off = 0;
    double all = 0;
    for (int i = 0; i < m; i++) {
      double[] l = there.lowRankRow(i);
      double[] expected = here.lowRankRow(i);
      for (int k = 0; k < n; k++) {
        off += Math.pow(l[k] - expected[k], 2);
        all += matrix[i][k] * matrix[i][k];
      }
    }
    assertThat(Math.sqrt(off / all)).isLessThan(Tolerances.RECOVERED);
    assertThat(there.optimality().residual()).isLessThan(TIGHT.tolerance());
  }

  /** The host's iterations, but for rounding: the same number, ranks and entries. */
  @ParameterizedTest
  @EnumSource(PursuitMethod.class)
  void iterationsAreThoseOfTheHost(PursuitMethod method) {
    double[][] matrix = new LowRankPlusSparse(200, 40, 3, 0.06, SEED + 1).matrix();
    PursuitOptions options = PursuitOptions.DEFAULTS.withMethod(method).withMaxIterations(15);
    DensePursuit here = DensePursuit.decompose(matrix, options, 1);
    DensePursuit there = onDevice(matrix, options);
    assertThat(there.history()).hasSameSizeAs(here.history());
    for (int k = 0; k < here.history().size(); k++) {
      var a = here.history().get(k);
      var b = there.history().get(k);
      assertThat(b.rank()).isEqualTo(a.rank());
      assertThat(b.nonzeros()).isEqualTo(a.nonzeros());
      assertThat(b.residual()).isCloseTo(a.residual(), within(Tolerances.RECOVERED * a.residual()));
      assertThat(b.change()).isCloseTo(a.change(), within(Tolerances.RECOVERED * a.change()));
    }
    assertThat(there.s().nonzeros()).isEqualTo(here.s().nonzeros());
    assertThat(there.optimality().objective())
        .isCloseTo(
            here.optimality().objective(),
            within(Tolerances.RECOVERED * here.optimality().objective()));
  }

  /** The host ends in parts what a device has in one piece. */
  @Test
  void theHostEndsItInParts() {
    double[][] matrix = new LowRankPlusSparse(9000, 60, 3, 0.05, SEED + 3).matrix();
    PursuitOptions options = PursuitOptions.DEFAULTS.withMaxIterations(4);
    DensePursuit here = DensePursuit.decompose(matrix, options, 2);
    DensePursuit there = onDevice(matrix, options);
    assertThat(there.s().columnIndex()).isEqualTo(here.s().columnIndex());
    for (int i = 0; i < matrix.length; i += 431) {
      double[] expected = here.lowRankRow(i);
      double[] l = there.lowRankRow(i);
      for (int k = 0; k < l.length; k++) {
        assertThat(l[k]).isCloseTo(expected[k], within(Tolerances.RECOVERED));
      }
    }
  }

  /** One column and many, graded ones, and dependent ones; the last size is LAPACK's anyway. */
  @ParameterizedTest
  @CsvSource({"1, 1", "2, 1", "33, 0.5", "100, 1", "100, 0.8", "141, 0.9", "143, 1", "150, 1"})
  void singularValuesAreThoseOfLapack(int n, double decay) {
    var random = new Random(SEED + n);
    double[][] m = new double[n + 40][n];
    for (double[] row : m) {
      for (int k = 0; k < n; k++) {
        row[k] = k % 10 == 9 ? row[k - 1] : random.nextGaussian() * Math.pow(decay, k);
      }
    }
    try (var site = new CudaPursuit(sessions(), 0, m, 2)) {
      double[] r = site.reduced(1);
      double[] rows = new double[n * n];
      for (int i = 0; i < n; i++) {
        for (int k = i; k < n; k++) {
          rows[i * n + k] = r[i + k * n];
        }
      }
      RightSvd found = site.svd(rows);
      RightSvd expected = RightSvd.of(r, n);
      double limit = Tolerances.of(n, n, 1) * expected.sigma()[0];
      for (int k = 0; k < n; k++) {
        assertThat(found.sigma()[k]).isCloseTo(expected.sigma()[k], within(limit));
      }
    }
  }

  /** Any units, and the same bits in a second run. */
  @ParameterizedTest
  @CsvSource({"1e-200", "1", "1e200"})
  void unitsDoNotMatter(double unit) {
    double[][] matrix = new LowRankPlusSparse(100, 20, 2, 0.05, SEED + 2).matrix();
    for (double[] row : matrix) {
      for (int k = 0; k < row.length; k++) {
        row[k] *= unit;
      }
    }
    DensePursuit one = onDevice(matrix, PursuitOptions.DEFAULTS);
    DensePursuit again = onDevice(matrix, PursuitOptions.DEFAULTS);
    assertThat(one.converged()).isTrue();
    assertThat(one.rank()).isEqualTo(2);
    assertThat(again.u()).isEqualTo(one.u());
    assertThat(again.sigma()).isEqualTo(one.sigma());
    assertThat(again.s().columnIndex()).isEqualTo(one.s().columnIndex());
    assertThat(again.s().values()).isEqualTo(one.s().values());
  }
}
