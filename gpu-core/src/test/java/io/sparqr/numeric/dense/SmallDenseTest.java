/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.dense;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SmallDenseTest {

  /** Sizes of one block and of several, graded, singular, and in extreme units. */
  @ParameterizedTest
  @CsvSource({"1, 1", "2, 1", "40, 1", "90, 1e-130", "150, 1", "200, 1e100", "30, 1e-300", "30, 0"})
  void withoutUTheRestHasTheSameBits(int n, double unit) {
    var random = new Random(17L * n);
    double[] r = new double[n * n];
    for (int j = 0; j < n; j++) {
      for (int i = 0; i <= j; i++) {
        r[i + j * n] = unit * random.nextGaussian() * Math.pow(0.8, i % 50) * (i % 7 == 6 ? 0 : 1);
      }
    }
    double[] sigma = new double[n];
    double[] vt = new double[n * n];
    SmallDense.svd(r, n, sigma, new double[n * n], vt);
    double[] same = new double[n];
    double[] sameVt = new double[n * n];
    SmallDense.svdWithoutU(r, n, same, sameVt);
    assertThat(same).isEqualTo(sigma);
    assertThat(sameVt).isEqualTo(vt);
  }
}
