/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.ml;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;

/**
 * One format for the numbers of a column, as in tables of statistics: as many decimals as the
 * number with the longest fraction needs for its significant digits, or powers of ten if that is
 * shorter.
 */
final class NumberFormat {

  private static final int PLAIN_EXPONENT = 100;

  private final boolean powers;
  private final int decimals;

  private NumberFormat(boolean powers, int decimals) {
    this.powers = powers;
    this.decimals = decimals;
  }

  /**
   * The format for some numbers; those that are not finite are ignored.
   *
   * @param digits maximum number of significant digits, not counting trailing zeros
   */
  static NumberFormat of(double[] numbers, int digits) {
    int decimals = 0;
    int significant = 1;
    int left = 1;
    int sign = 0;
    int exponentDigits = 2;
    for (double x : numbers) {
      if (!Double.isFinite(x)) {
        continue;
      }
      sign = Math.max(sign, x < 0 ? 1 : 0);
      if (x == 0) {
        continue;
      }
      BigDecimal d = rounded(x, digits);
      int exponent = d.precision() - d.scale() - 1;
      decimals = Math.max(decimals, d.precision() - exponent - 1);
      significant = Math.max(significant, d.precision());
      left = Math.max(left, exponent + 1);
      exponentDigits = Math.abs(exponent) >= PLAIN_EXPONENT ? 3 : exponentDigits;
    }
    int plainWidth = sign + left + (decimals > 0 ? decimals + 1 : 0);
    int powersWidth = sign + (significant > 1 ? significant + 1 : 1) + 2 + exponentDigits;
    boolean powers = plainWidth > powersWidth;
    return new NumberFormat(powers, powers ? significant - 1 : decimals);
  }

  /** A single number. */
  static String alone(double x, int digits) {
    return of(new double[] {x}, digits).text(x);
  }

  /** The number rounded to this many significant digits, without trailing zeros. */
  private static BigDecimal rounded(double x, int digits) {
    return new BigDecimal(x).round(new MathContext(digits)).stripTrailingZeros();
  }

  /** x rounded to this many decimals. */
  static double round(double x, int decimals) {
    return Double.isFinite(x)
        ? new BigDecimal(x).setScale(decimals, RoundingMode.HALF_EVEN).doubleValue()
        : x;
  }

  /** x rounded to this many significant digits. */
  static double significant(double x, int digits) {
    return Double.isFinite(x) ? new BigDecimal(x).round(new MathContext(digits)).doubleValue() : x;
  }

  /** The number in this format, or NA, Inf or -Inf. */
  String text(double x) {
    if (!Double.isFinite(x)) {
      return Double.isNaN(x) ? "NA" : x > 0 ? "Inf" : "-Inf";
    }
    return powers ? power(x, decimals) : plain(x, decimals);
  }

  private static String plain(double x, int decimals) {
    return new BigDecimal(x).setScale(decimals, RoundingMode.HALF_EVEN).toPlainString();
  }

  private static String power(double x, int decimals) {
    if (x == 0) {
      return plain(0, decimals) + "e+00";
    }
    BigDecimal d = new BigDecimal(x).round(new MathContext(decimals + 1));
    int exponent = d.precision() - d.scale() - 1;
    String digits =
        d.movePointLeft(exponent).setScale(decimals, RoundingMode.HALF_EVEN).toPlainString();
    int size = Math.abs(exponent);
    return digits + (exponent < 0 ? "e-" : "e+") + (size < 10 ? "0" : "") + size;
  }

  /**
   * The number with this many significant digits, as by C's {@code %5.4g}: at least five
   * characters.
   */
  static String general(double x, int digits) {
    if (!Double.isFinite(x)) {
      return Double.isNaN(x) ? "  NaN" : "  Inf";
    }
    BigDecimal d = x == 0 ? BigDecimal.ZERO : rounded(x, digits);
    int exponent = x == 0 ? 0 : d.precision() - d.scale() - 1;
    String text =
        exponent < -4 || exponent >= digits
            ? power(x, d.precision() - 1)
            : d.setScale(Math.max(0, d.scale())).toPlainString();
    return " ".repeat(Math.max(0, 5 - text.length())) + text;
  }
}
