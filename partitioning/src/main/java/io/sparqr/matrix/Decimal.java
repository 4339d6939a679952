/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.matrix;

import java.math.BigInteger;

/**
 * Decimal to binary: w 10^q as the nearest double, ties to even. Small cases by one exact product
 * or quotient (Clinger 1990), the others by a product with a 128-bit truncated power of five
 * (Lemire 2021, "Number parsing at a gigabyte per second", section 5). Where that cannot decide the
 * result is NaN, and the caller falls back to the slow method.
 *
 * <p>The library fastdoubleparser (2.0.1, MIT) gives the same digits as fast, measured on two
 * million numbers of a text; but it takes a token whose end is known, by Java's grammar, which has
 * hexadecimal numbers and suffixes and lacks Fortran's exponents. The scanner would look for the
 * end, check the grammar, and have it all scanned again, which saves none of its own lines.
 */
final class Decimal {

  private static final int LEAST = -342;
  private static final int GREATEST = 308;

  /** size GREATEST - LEAST + 1; the leading 64 bits of 5^q, and the next 64. */
  private static final long[] HIGH = new long[GREATEST - LEAST + 1];

  private static final long[] LOW = new long[GREATEST - LEAST + 1];

  private static final double[] EXACT = new double[23];

  static {
    EXACT[0] = 1;
    for (int q = 1; q < EXACT.length; q++) {
      EXACT[q] = EXACT[q - 1] * 10;
    }
    BigInteger power = BigInteger.ONE;
    for (int q = 0; q <= GREATEST; q++) {
      store(q, power);
      power = power.multiply(BigInteger.valueOf(5));
    }
    power = BigInteger.valueOf(5);
    for (int q = -1; q >= LEAST; q--) {
      // Down to -27 the quotient 2^b / 5^-q rounded up to 128 bits, below that truncated to them.
      int bits = q >= -27 ? power.bitLength() + 127 : 2 * power.bitLength() + 128;
      BigInteger quotient = BigInteger.ONE.shiftLeft(bits).divide(power).add(BigInteger.ONE);
      store(q, quotient);
      power = power.multiply(BigInteger.valueOf(5));
    }
  }

  private Decimal() {}

  private static void store(int q, BigInteger value) {
    int excess = value.bitLength() - 128;
    BigInteger top = excess >= 0 ? value.shiftRight(excess) : value.shiftLeft(-excess);
    HIGH[q - LEAST] = top.shiftRight(64).longValue();
    LOW[q - LEAST] = top.longValue();
  }

  /**
   * w 10^q correctly rounded, or NaN where this method cannot tell (subnormal, out of range, or a
   * product too close to a tie).
   *
   * @param w in [0, 10^18)
   */
  static double toDouble(long w, int q) {
    if (w == 0) {
      return 0;
    }
    if (w <= 1L << 53 && q >= -22 && q <= 22) {
      return q < 0 ? w / EXACT[-q] : w * EXACT[q];
    }
    if (q < LEAST || q > GREATEST) {
      return Double.NaN;
    }
    int shift = Long.numberOfLeadingZeros(w);
    long normal = w << shift;
    long upper = unsignedHigh(normal, HIGH[q - LEAST]);
    long lower = normal * HIGH[q - LEAST];
    if ((upper & 0x1ff) == 0x1ff) {
      long more = unsignedHigh(normal, LOW[q - LEAST]);
      lower += more;
      if (Long.compareUnsigned(lower, more) < 0) {
        upper++;
      }
    }
    if (lower == -1 && (q < -27 || q > 55)) {
      return Double.NaN;
    }
    int top = (int) (upper >>> 63);
    long mantissa = upper >>> (top + 9);
    int exponent = ((217706 * q) >> 16) + 1023 + 63 - shift + top;
    if (exponent <= 0 || exponent >= 2046) {
      return Double.NaN;
    }
    boolean mayTie = Long.compareUnsigned(lower, 1) <= 0 && q >= -4 && q <= 23;
    if (mayTie && (mantissa & 3) == 1 && mantissa << (top + 9) == upper) {
      mantissa &= ~1L;
    }
    mantissa += mantissa & 1;
    mantissa >>>= 1;
    if (mantissa >= 1L << 53) {
      mantissa = 1L << 52;
      exponent++;
    }
    return Double.longBitsToDouble(((long) exponent << 52) | (mantissa & ((1L << 52) - 1)));
  }

  private static long unsignedHigh(long a, long b) {
    return Math.multiplyHigh(a, b) + ((a >> 63) & b) + ((b >> 63) & a);
  }
}
