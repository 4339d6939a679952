/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.plan;

import io.sparqr.error.NonFiniteSolutionException;
import java.util.Locale;

/**
 * The factors D_j that equilibrate the columns, one number each. 1 / ||a_j|| leaves the range of
 * doubles for a column of denormal numbers, and loses digits for one near the other end; products
 * of such a column with anything may leave it although the result does not. So the factor of a
 * column whose norm is out of [2^-64, 2^64] is kept as m 2^e with m in [1, 2), and products are
 * made of significands and exponents: rounded once, and out of range only if the result is. Powers
 * of two change no digit, so where the plain product is in range both give the same bits.
 *
 * <p>Such a factor is stored as -m 2^(e - 60) for a positive e, which is at most 1074, and -m 2^(e
 * + 60) for a negative one, at least -1024: both normal numbers, told from others by the sign.
 */
public final class ColumnScales {

  private static final int ORDINARY = 64;
  private static final int OFFSET = 60;

  private ColumnScales() {}

  /** The stored factor of a column that is not scaled. */
  public static final double NONE = 1;

  /** The stored factor 1 / norm of a column of finite positive norm. */
  public static double ofNorm(double norm) {
    int k = exponent(norm);
    if (k >= -ORDINARY && k < ORDINARY) {
      return 1 / norm;
    }
    double m = 1 / significand(norm);
    int e = -k;
    if (m < 1) {
      m *= 2;
      e--;
    }
    return -Math.scalb(m, e > 0 ? e - OFFSET : e + OFFSET);
  }

  /** Exponent of an extraordinary factor. */
  private static int exponentOf(double stored) {
    int e = Math.getExponent(stored);
    return e > 0 ? e + OFFSET : e - OFFSET;
  }

  /**
   * v D 2^shift, rounded once.
   *
   * @param stored the stored factor of D
   */
  public static double times(double v, double stored, int shift) {
    if (v == 0 || !Double.isFinite(v)) {
      return v;
    }
    boolean plain = stored > 0;
    double m = plain ? stored : significand(-stored);
    int e = plain ? 0 : exponentOf(stored);
    return Math.scalb(significand(v) * m, exponent(v) + e + shift);
  }

  /** v / D 2^shift, rounded once. */
  static double over(double v, double stored, int shift) {
    if (v == 0 || !Double.isFinite(v)) {
      return v;
    }
    boolean plain = stored > 0;
    double m = plain ? stored : significand(-stored);
    int e = plain ? 0 : exponentOf(stored);
    return Math.scalb(significand(v) / m, exponent(v) - e + shift);
  }

  /** v D_a / D_b for stored factors. */
  static double ratio(double v, double a, double b) {
    if (v == 0 || !Double.isFinite(v)) {
      return v;
    }
    double m = significand(v) / significand(Math.abs(b)) * significand(Math.abs(a));
    int ofA = a > 0 ? exponent(a) : exponentOf(a);
    int ofB = b > 0 ? exponent(b) : exponentOf(b);
    return Math.scalb(m, exponent(v) + ofA - ofB);
  }

  /** The factor as a double: infinite or denormal where it is out of range. */
  static double value(double stored) {
    return stored > 0 ? stored : Math.scalb(significand(-stored), exponentOf(stored));
  }

  /** log10 |v D 2^shift|, for messages. */
  static double log10(double v, double stored, int shift) {
    double m = stored > 0 ? stored : significand(-stored);
    int e = stored > 0 ? 0 : exponentOf(stored);
    return Math.log10(Math.abs(significand(v)))
        + Math.log10(m)
        + (exponent(v) + e + shift) * Math.log10(2);
  }

  /**
   * The error for a value beyond the range of doubles.
   *
   * @param what such as "x"
   * @param rhs right-hand side; -1: none
   */
  static NonFiniteSolutionException overflow(String what, int column, int rhs, double log10) {
    double exponent = Math.floor(log10);
    String about =
        String.format(Locale.ROOT, "%.1fe%+d", Math.pow(10, log10 - exponent), (int) exponent);
    return new NonFiniteSolutionException(
        "%s of column %d would be about %s, beyond the range of doubles: its unit is too large"
                .formatted(what, column, about)
            + " for the column's values; multiply the column by a power of ten",
        column,
        rhs);
  }

  /** Exponent of a finite number that is not 0, denormal ones included. */
  static int exponent(double v) {
    int k = Math.getExponent(v);
    return k >= Double.MIN_EXPONENT ? k : Math.getExponent(v * 0x1p54) - 54;
  }

  /** v 2^-exponent(v): in [1, 2), with its sign. */
  static double significand(double v) {
    double normal = Math.getExponent(v) >= Double.MIN_EXPONENT ? v : v * 0x1p54;
    return Math.scalb(normal, -Math.getExponent(normal));
  }
}
