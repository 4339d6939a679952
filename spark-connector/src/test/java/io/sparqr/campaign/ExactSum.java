/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign;

import java.util.Arrays;

/**
 * A sum of products of two doubles, exact: a fixed-point number of digits to the base 2^32 that
 * covers everything from the square of the least double to that of the largest (Kulisch 2013,
 * Computer Arithmetic and Validity, ch. 8). About 10 ns a product.
 */
final class ExactSum {

  /** Exponent of the lowest bit: that of the square of the least double. */
  private static final int LOWEST = -2148;

  private static final int DIGITS = 140;
  private static final long MASK = 0xffffffffL;

  /** size DIGITS, lowest first; any sign, carried only when read, after 2^29 products at most. */
  private final long[] digit = new long[DIGITS];

  private int products;

  /** Sets the sum to 0. */
  void clear() {
    Arrays.fill(digit, 0);
    products = 0;
  }

  /** Adds a finite double. */
  void add(double x) {
    add(x, 1);
  }

  /** Adds x y; both finite. */
  void add(double x, double y) {
    if (x == 0 || y == 0) {
      return;
    }
    long a = mantissa(x);
    long b = mantissa(y);
    long low = a * b;
    long high = Math.multiplyHigh(a, b);
    int at = exponent(x) + exponent(y) - LOWEST;
    int d = at >>> 5;
    int shift = at & 31;
    boolean plus = x > 0 == y > 0;
    addDigit(d, low & MASK, shift, plus);
    addDigit(d + 1, low >>> 32, shift, plus);
    addDigit(d + 2, high & MASK, shift, plus);
    addDigit(d + 3, high >>> 32, shift, plus);
    if (++products == 1 << 28) {
      carry();
    }
  }

  private void addDigit(int d, long value, int shift, boolean plus) {
    long shifted = value << shift;
    digit[d] += plus ? shifted & MASK : -(shifted & MASK);
    digit[d + 1] += plus ? shifted >>> 32 : -(shifted >>> 32);
  }

  /** All digits but the highest in [0, 2^32), which has the sign. */
  private void carry() {
    for (int d = 0; d + 1 < DIGITS; d++) {
      digit[d + 1] += digit[d] >> 32;
      digit[d] &= MASK;
    }
    products = 0;
  }

  /** The sum, rounded to a double's 53 bits. */
  Scaled value() {
    carry();
    boolean negative = digit[DIGITS - 1] < 0;
    if (negative) {
      negate();
    }
    int top = DIGITS - 1;
    while (top > 0 && digit[top] == 0) {
      top--;
    }
    double v = digit[top];
    for (int d = top - 1; d >= Math.max(0, top - 3); d--) {
      v += Math.scalb((double) digit[d], -32 * (top - d));
    }
    if (negative) {
      negate();
    }
    return Scaled.of(negative ? -v : v, 32 * top + LOWEST);
  }

  private void negate() {
    for (int d = 0; d < DIGITS; d++) {
      digit[d] = -digit[d];
    }
    carry();
  }

  /** The integer m with |x| = m 2^exponent(x). */
  static long mantissa(double x) {
    long bits = Double.doubleToRawLongBits(x);
    long fraction = bits & 0xfffffffffffffL;
    return Math.getExponent(x) < Double.MIN_EXPONENT ? fraction : fraction | 1L << 52;
  }

  /** The exponent of the last bit. */
  static int exponent(double x) {
    return Math.max(Math.getExponent(x), Double.MIN_EXPONENT) - 52;
  }
}
