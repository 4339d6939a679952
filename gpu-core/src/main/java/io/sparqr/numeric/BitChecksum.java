/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

/**
 * 64-bit checksums of the bits of values: the sum of all values' {@link #mixed} bits modulo 2^64,
 * in any order. It is the same here and there, or a value was lost, doubled or changed: a change of
 * one value always shows, one of several all but certainly.
 */
public final class BitChecksum {

  private static final long P = 0x9E3779B97F4A7C15L;

  private BitChecksum() {}

  /** Of a block's values and right-hand sides. O(values). */
  public static long of(ContributionBlock b) {
    return sum(b.values()) + sum(b.rhs());
  }

  /** One value's part of a sum: {@code mixed_bits} of the kernels. One to one. */
  public static long mixed(double x) {
    return mixed(Double.doubleToRawLongBits(x));
  }

  /** The part of a word that is no double, and of its number in a list. */
  public static long mixed(int word, long number) {
    return mixed(number << 32 ^ Integer.toUnsignedLong(word));
  }

  private static long mixed(long bits) {
    long z = bits * P;
    return z ^ (z >>> 29);
  }

  /** The sum over values [from, to). */
  public static long sum(double[] x, int from, int to) {
    long sum = 0;
    for (int k = from; k < to; k++) {
      sum += mixed(x[k]);
    }
    return sum;
  }

  /** The sum over an array. */
  public static long sum(double[] x) {
    return sum(x, 0, x.length);
  }
}
