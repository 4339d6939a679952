/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.numeric.integrity.IntegrityFailure;
import io.sparqr.numeric.lowrank.RightSvd;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is taken for an SVD, and what is not. */
class JacobiSvdTest {

  private static double[] triangle(int n, double decay, long seed) {
    var random = new Random(seed);
    double[] r = new double[n * n];
    for (int i = 0; i < n; i++) {
      for (int k = i; k < n; k++) {
        r[i * n + k] = random.nextGaussian() * Math.pow(decay, i);
      }
    }
    return r;
  }

  /** LAPACK's, as the kernel leaves it, in any order. */
  private static double[] out(double[] r, int n) {
    double[] turned = new double[n * n];
    for (int i = 0; i < n; i++) {
      for (int k = 0; k < n; k++) {
        turned[i + k * n] = r[i * n + k];
      }
    }
    RightSvd svd = RightSvd.of(turned, n);
    double[] out = new double[n * (n + 1)];
    for (int k = 0; k < n; k++) {
      int to = (k + n / 2) % n;
      out[to] = svd.sigma()[k];
      for (int j = 0; j < n; j++) {
        out[n + to * n + j] = svd.vt()[k + j * n];
      }
    }
    return out;
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 7, 40, 143})
  void rightOnesPassSorted(int n) {
    for (double decay : new double[] {1, 0.8, 1e-3}) {
      double[] r = triangle(n, decay, 31 * n);
      RightSvd svd = JacobiSvd.checked(r, n, out(r, n), 5);
      for (int k = 1; k < n; k++) {
        assertThat(svd.sigma()[k]).isLessThanOrEqualTo(svd.sigma()[k - 1]);
      }
    }
  }

  @Test
  void wrongOnesDoNot() {
    int n = 40;
    double[] r = triangle(n, 0.95, 3);
    double[] right = out(r, n);
    assertThatCode(() -> JacobiSvd.checked(r, n, right, 5)).doesNotThrowAnyException();
    for (int k = 0; k < right.length; k += 97) {
      double[] wrong = right.clone();
      wrong[k] += 1e-9;
      assertThatThrownBy(() -> JacobiSvd.checked(r, n, wrong, 5))
          .as("place %d", k)
          .isInstanceOf(IntegrityFailure.class);
    }
    double[] nan = right.clone();
    nan[n + 3] = Double.NaN;
    assertThatThrownBy(() -> JacobiSvd.checked(r, n, nan, 5)).isInstanceOf(IntegrityFailure.class);
    assertThatThrownBy(() -> JacobiSvd.checked(r, n, right, JacobiSvd.MOST_SWEEPS))
        .isInstanceOf(IntegrityFailure.class)
        .hasMessageContaining("40 sweeps");
  }
}
