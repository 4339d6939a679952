/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.integrity;

import io.sparqr.numeric.ContributionBlock;

/**
 * A 64-bit checksum of the bits of values that wait in memory: rotated and multiplied by an odd
 * number in four lanes, so that any change of one value shows, and one of several all but
 * certainly.
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
}
