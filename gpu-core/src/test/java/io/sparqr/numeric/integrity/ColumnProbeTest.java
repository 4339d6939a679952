/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.integrity;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ColumnProbeTest {

  /** Signs and magnitudes do not follow the positions: no pattern of columns hides from them. */
  @Test
  void theMultipliersAreSpread() {
    int n = 100_000;
    double[] h = IntStream.range(-10, n).mapToDouble(ColumnProbe::hash).toArray();
    double sum = 0;
    for (int lag = 1; lag < 40; lag++) {
      double product = 0;
      for (int k = lag; k < n; k++) {
        product += Math.signum(h[k]) * Math.signum(h[k - lag]);
      }
      assertThat(Math.abs(product)).as("lag %d", lag).isLessThan(5 * Math.sqrt(n));
    }
    for (double x : h) {
      assertThat(Math.abs(x)).isGreaterThanOrEqualTo(0.5).isLessThan(1);
      sum += Math.abs(x);
    }
    assertThat(sum / h.length).isBetween(0.74, 0.76);
    long positive = java.util.Arrays.stream(h).filter(x -> x > 0).count();
    assertThat(positive).isBetween(n / 2 - 1000L, n / 2 + 1000L);
  }

  /**
   * Together they are no larger than a column: 1 for a single one, never less than half of that.
   */
  @Test
  void theWeightOfRightHandSides() {
    assertThat(ColumnProbe.right(0)).isEqualTo(1);
    assertThat(ColumnProbe.right(1)).isEqualTo(1);
    for (int rhs = 1; rhs < 5000; rhs++) {
      double r = ColumnProbe.right(rhs);
      assertThat(Math.scalb(1.0, Math.getExponent(r))).isEqualTo(r);
      assertThat(r * r * rhs).as("%d", rhs).isLessThanOrEqualTo(1).isGreaterThan(0.25);
    }
  }

  @ParameterizedTest
  @ValueSource(doubles = {1, 0.7, 3, 1e200, 1e-200, 1e300, 0x1p-960, 0x1.fffp-960, 0x1p1019})
  void aColumnTimesItsMultiplierIsNearOne(double norm) {
    for (int position = -3; position < 50; position++) {
      assertThat(Math.abs(ColumnProbe.scale(position, norm)) * norm)
          .isGreaterThanOrEqualTo(0.25)
          .isLessThan(1);
    }
  }

  @ParameterizedTest
  @ValueSource(doubles = {0, Double.MIN_VALUE, 1e-300, Double.MAX_VALUE, Double.POSITIVE_INFINITY})
  void theEndsOfTheRangeHaveFiniteOnes(double norm) {
    double s = Math.abs(ColumnProbe.scale(5, norm));
    assertThat(s).isPositive().isFinite();
    assertThat(norm <= Double.MAX_VALUE ? s * norm : 0).isLessThan(16);
  }
}
