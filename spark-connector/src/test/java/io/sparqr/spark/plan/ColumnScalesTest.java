/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.plan;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Random;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

/** Factors of columns at any scale, against decimal arithmetic. */
class ColumnScalesTest {

  private static final long SEED = Long.getLong("test.seed", 20261127L);

  private static double ofRange(Random random) {
    int e = random.nextInt(2098) - 1074;
    double v = Math.scalb(1 + random.nextDouble(), e);
    return random.nextBoolean() ? v : -v;
  }

  private static BigDecimal exact(double v) {
    return new BigDecimal(v);
  }

  @Test
  void productsAreRoundedFromTheExactOnes() {
    var random = new Random(SEED);
    for (int i = 0; i < 20_000; i++) {
      double norm = Math.abs(ofRange(random));
      double v = ofRange(random);
      double stored = ColumnScales.ofNorm(norm);
      BigDecimal product = exact(v).divide(exact(norm), MathContext.DECIMAL128);
      close(ColumnScales.times(v, stored, 0), product, "v / norm", i);
      BigDecimal back = exact(v).multiply(exact(norm));
      close(ColumnScales.over(v, stored, 0), back, "v norm", i);
      double other = Math.abs(ofRange(random));
      BigDecimal ratio = product.multiply(exact(other));
      close(ColumnScales.ratio(v, stored, ColumnScales.ofNorm(other)), ratio, "ratio", i);
    }
  }

  /** Within a few units of the last place, or of the least denormal number. */
  private static void close(double actual, BigDecimal expected, String what, int i) {
    double e = expected.doubleValue();
    if (Double.isInfinite(e) || Math.abs(e) > 0.99 * Double.MAX_VALUE) {
      assertThat(Math.abs(actual)).isGreaterThan(0.98 * Double.MAX_VALUE);
      return;
    }
    assertThat(Math.abs(actual - e))
        .as("%s, seed %d, case %d: %s, expected %s", what, SEED, i, actual, e)
        .isLessThanOrEqualTo(4 * Math.ulp(e));
  }

  @Test
  void thePlainProductHasTheSameBitsWhereItIsInRange() {
    var random = new Random(SEED);
    for (int i = 0; i < 20_000; i++) {
      double norm = Math.scalb(1 + random.nextDouble(), random.nextInt(800) - 400);
      double v = Math.scalb(1 + random.nextDouble(), random.nextInt(800) - 400);
      double stored = ColumnScales.ofNorm(norm);
      assertThat(ColumnScales.times(v, stored, 0)).isEqualTo(v * (1 / norm));
      assertThat(ColumnScales.over(v, stored, 0)).isEqualTo(v / (1 / norm));
      assertThat(ColumnScales.value(stored)).isEqualTo(1 / norm);
      if (norm > 0x1p-60 && norm < 0x1p60) {
        assertThat(stored).isEqualTo(1 / norm);
      }
    }
  }

  @Test
  void theEndsOfTheRange() {
    double least = ColumnScales.ofNorm(Double.MIN_VALUE);
    assertThat(ColumnScales.times(Double.MIN_VALUE, least, 0)).isEqualTo(1);
    assertThat(ColumnScales.times(3 * Double.MIN_VALUE, least, 0)).isEqualTo(3);
    assertThat(ColumnScales.times(1, least, 0)).isInfinite();
    assertThat(ColumnScales.times(1, least, -100)).isEqualTo(0x1p974);
    double most = ColumnScales.ofNorm(Double.MAX_VALUE);
    assertThat(ColumnScales.times(Double.MAX_VALUE, most, 0)).isEqualTo(1);
    assertThat(ColumnScales.over(1, most, 0) / Double.MAX_VALUE)
        .isCloseTo(1, Offset.offset(2 * Math.ulp(1.0)));
    assertThat(ColumnScales.times(0, most, 0)).isZero();
    assertThat(ColumnScales.times(Double.NaN, most, 0)).isNaN();
  }
}
