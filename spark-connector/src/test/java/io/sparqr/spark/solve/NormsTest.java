/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.solve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.numeric.Tolerances;
import org.junit.jupiter.api.Test;

class NormsTest {

  @Test
  void neitherOverflowsNorUnderflows() {
    for (double unit : new double[] {1, 1e200, 1e-200, 1e308 / 5, 1e-140, 1e-310}) {
      double[] x = {9 * unit, 3 * unit, 7, -4 * unit, 7};
      x[0] = Double.NaN;
      double norm = Norms.norm(x, 1, 2, 2);
      assertThat(norm / unit)
          .as("unit %s", unit)
          .isCloseTo(5, within(Tolerances.roundings(4, 5) + 4 * Double.MIN_VALUE / unit));
    }
    assertThat(Norms.norm(new double[4], 0, 4)).isZero();
    assertThat(Norms.norm(new double[] {1, Double.NaN}, 0, 2)).isNaN();
    assertThat(Norms.norm(new double[] {1, Double.POSITIVE_INFINITY}, 0, 2)).isInfinite();
  }
}
