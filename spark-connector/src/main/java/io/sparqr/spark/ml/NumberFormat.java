/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.ml;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;

/**
 * Numbers of a column in one form, as statisticians' tables have them: as many decimals as the
 * number that needs most of them for its significant digits, or powers of ten where that is
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
   * The form of some numbers; those that are not finite do not count.
   *
   * @param digits significant digits of a number, at most; zeros at its end are none
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

  /** One number alone. */
  static String alone(double x, int digits) {
    return of(new double[] {x}, digits).text(x);
  }

  /** To so many significant digits, without zeros at the end. */
  private static BigDecimal rounded(double x, int digits) {
    return new BigDecimal(x).round(new MathContext(digits)).stripTrailingZeros();
  }

  /** x to so many decimals. */
  static double round(double x, int decimals) {
    return Double.isFinite(x)
        ? new BigDecimal(x).setScale(decimals, RoundingMode.HALF_EVEN).doubleValue()
        : x;
  }

  /** x to so many significant digits. */
  static double significant(double x, int digits) {
    return Double.isFinite(x) ? new BigDecimal(x).round(new MathContext(digits)).doubleValue() : x;
  }

  /** In this form; what is not finite as NA, NaN or infinity. */
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

  /** With so many significant digits, as C's {@code %5.4g}: five characters at least. */
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
