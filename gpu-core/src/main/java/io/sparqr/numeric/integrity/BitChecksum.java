/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.integrity;

import io.sparqr.numeric.ContributionBlock;

/**
 * 64-bit checksums of the bits of values: any change of one value shows, and one of several all but
 * certainly.
 *
 * <p>Of values that wait in one place, bits are rotated and multiplied by an odd number in four
 * lanes. Of values that are copied in any order, the checksum is the sum of all values' {@link
 * #mixed} bits modulo 2^64: the same here and there, or a value was lost, doubled or changed.
 */
public final class BitChecksum {

  private static final long P = 0x9E3779B97F4A7C15L;

  private BitChecksum() {}

  /** Of a block's values and right-hand sides. O(values). */
  public static long of(ContributionBlock b) {
    return of(b.rhs(), of(b.values(), b.cm()));
  }

  private static long of(double[] x, long seed) {
    long a = seed;
    long b = 1;
    long c = 2;
    long d = 3;
    int k = 0;
    for (; k + 3 < x.length; k += 4) {
      a = mix(a, x[k]);
      b = mix(b, x[k + 1]);
      c = mix(c, x[k + 2]);
      d = mix(d, x[k + 3]);
    }
    for (; k < x.length; k++) {
      a = mix(a, x[k]);
    }
    return ((a * P + b) * P + c) * P + d;
  }

  /** One to one in each argument. */
  private static long mix(long h, double x) {
    return Long.rotateLeft(h ^ Double.doubleToRawLongBits(x), 29) * P;
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
