/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.tall;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.sparqr.backend.BackendChoice;
import io.sparqr.error.BackendUnavailableException;
import io.sparqr.error.DimensionMismatchException;
import io.sparqr.error.NonFiniteValueException;
import io.sparqr.error.RankDeficientException;
import io.sparqr.numeric.Tolerances;
import io.sparqr.spark.device.Backends;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** On the host; of a device: CudaDenseQrContract, LocalDeviceTest. */
class DenseQRTest {

  private static double[] random(int m, int n, long seed) {
    var random = new Random(seed);
    double[] a = new double[m * n];
    for (int i = 0; i < a.length; i++) {
      a[i] = random.nextGaussian();
    }
    return a;
  }

  /** Row-major product of m x k and k x n. */
  private static double[] times(double[] a, double[] b, int m, int k, int n) {
    double[] c = new double[m * n];
    for (int i = 0; i < m; i++) {
      for (int l = 0; l < k; l++) {
        for (int j = 0; j < n; j++) {
          c[i * n + j] += a[i * k + l] * b[l * n + j];
        }
      }
    }
    return c;
  }

  private static double[] transposed(double[] a, int m, int n) {
    double[] t = new double[a.length];
    for (int i = 0; i < m; i++) {
      for (int j = 0; j < n; j++) {
        t[j * m + i] = a[i * n + j];
      }
    }
    return t;
  }

  private static void close(double[] a, double[] b, double limit) {
    assertThat(a).hasSameSizeAs(b);
    for (int i = 0; i < a.length; i++) {
      assertThat(a[i]).isCloseTo(b[i], within(limit));
    }
  }

  private static double[] identity(int n) {
    double[] one = new double[n * n];
    for (int i = 0; i < n; i++) {
      one[i * n + i] = 1;
    }
    return one;
  }

  /** Tall, square and wide. */
  @ParameterizedTest
  @CsvSource({"1, 1", "30, 4", "25, 25", "7, 19"})
  void qTimesRIsA(int m, int n) {
    double[] a = random(m, n, 100L * m + n);
    int height = Math.min(m, n);
    double limit = Tolerances.of(m, n, 1) * m;
    try (var qr = DenseQR.builder().keepQ().factorize(a, m, n)) {
      assertThat(qr.place()).isEqualTo("cores of the host");
      double[] r = qr.r();
      double[] thin = qr.thinQ();
      close(times(thin, r, m, height, n), a, limit);
      close(times(transposed(thin, m, height), thin, height, m, height), identity(height), limit);
      double[] full = qr.fullQ();
      close(times(transposed(full, m, m), full, m, m, m), identity(m), limit);
      for (int i = 0; i < height; i++) {
        assertThat(r[i * n + i]).isNotNegative();
        for (int j = 0; j < i; j++) {
          assertThat(r[i * n + j]).isZero();
        }
      }
      double[] image = a.clone();
      qr.applyQTransposed(image, n);
      for (int i = 0; i < m * n; i++) {
        assertThat(image[i]).isCloseTo(i < height * n ? r[i] : 0, within(limit));
      }
      qr.applyQ(image, n);
      close(image, a, limit);
    }
  }

  @Test
  void leastSquares() {
    int m = 40;
    int n = 6;
    double[] a = random(m, n, 1);
    double[] x = random(n, 3, 2);
    try (var qr = DenseQR.builder().backend(BackendChoice.CPU).keepQ().factorize(a, m, n)) {
      close(qr.solve(times(a, x, m, n, 3), 3), x, Tolerances.of(m, n, 1) * m);
    }
  }

  @Test
  void aDeviceThatIsNotThere() {
    assumeTrue(Backends.cudaObstacle().isPresent(), "there is a device");
    DenseQR.Builder builder = DenseQR.builder().backend(BackendChoice.REQUIRE_CUDA);
    assertThatThrownBy(() -> builder.factorize(new double[] {1, 2}, 2, 1))
        .isInstanceOf(BackendUnavailableException.class);
  }

  @Test
  void badInput() {
    DenseQR.Builder builder = DenseQR.builder();
    assertThatThrownBy(() -> builder.factorize(new double[5], 2, 3))
        .isInstanceOf(DimensionMismatchException.class)
        .hasMessageContaining("2 x 3");
    assertThatThrownBy(() -> builder.factorize(new double[0], 0, 3))
        .isInstanceOf(DimensionMismatchException.class);
    assertThatThrownBy(() -> builder.factorize(new double[] {1, Double.NaN}, 2, 1))
        .isInstanceOf(NonFiniteValueException.class)
        .hasMessageContaining("row 1, column 0");
    DenseQR qr = builder.factorize(new double[] {1, 2}, 2, 1);
    assertThatThrownBy(qr::thinQ)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("Q was not kept");
    qr.close();
    assertThatThrownBy(qr::r)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("closed");
    try (var zero = DenseQR.builder().keepQ().factorize(new double[] {0, 0}, 2, 1)) {
      assertThatThrownBy(() -> zero.solve(new double[2], 1))
          .isInstanceOf(RankDeficientException.class);
    }
  }
}
