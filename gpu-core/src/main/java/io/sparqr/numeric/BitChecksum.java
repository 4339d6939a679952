/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import io.sparqr.threads.Parallel;
import java.nio.DoubleBuffer;
import java.util.concurrent.atomic.LongAdder;

/**
 * 64-bit checksums of the bits of values: the sum of all values' {@link #mixed} bits modulo 2^64,
 * in any order. Different sums for the same values at two places mean that a value was lost,
 * duplicated or changed: a change of one value always shows, a change of several almost certainly.
 */
public final class BitChecksum {

  private static final long P = 0x9E3779B97F4A7C15L;

  /** Values of a buffer that are summed without a copy. */
  private static final int SHORT = 32;

  /** Values for which another thread pays. */
  private static final int GRAIN = 1 << 18;

  /** Values copied at a time; they stay in the first cache. */
  private static final int PIECE = 1 << 10;

  /** Values copied and summed at a time by {@link #copied}. */
  private static final int COPIED = 1 << 12;

  private BitChecksum() {}

  /** The checksum of a block's values and right-hand sides, by several threads. O(values). */
  public static long of(ContributionBlock b, int threads) {
    double[] x = b.values();
    var sum = new LongAdder();
    Parallel.loop(x.length, GRAIN, threads, (from, to, t) -> sum.add(sum(x, from, to)));
    return sum.sum() + sum(b.rhs());
  }

  /** One value's contribution to a sum: {@code mixed_bits} of the kernels. A bijection. */
  public static long mixed(double x) {
    return mixed(Double.doubleToRawLongBits(x));
  }

  /** The contribution of an int and its index in a list. */
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

  /**
   * The sum over values [from, to) of a buffer. Long runs are copied to an array piece by piece:
   * loops over arrays are vectorized, over buffers outside the heap they are not.
   */
  public static long sum(DoubleBuffer x, int from, int to) {
    if (x.hasArray()) {
      return sum(x.array(), x.arrayOffset() + from, x.arrayOffset() + to);
    }
    long sum = 0;
    if (to - from < SHORT) {
      for (int k = from; k < to; k++) {
        sum += mixed(x.get(k));
      }
      return sum;
    }
    double[] piece = new double[Math.min(PIECE, to - from)];
    for (int at = from; at < to; at += PIECE) {
      int count = Math.min(PIECE, to - at);
      x.get(at, piece, 0, count);
      sum += sum(piece, 0, count);
    }
    return sum;
  }

  /** The sum over an array. */
  public static long sum(double[] x) {
    return sum(x, 0, x.length);
  }

  /**
   * Copies values start, start + 1, ... of a buffer to [begin, end) of another, piece by piece, so
   * that they are summed while they are in the cache.
   *
   * @return the checksum of the values copied
   */
  public static long copied(DoubleBuffer from, int start, DoubleBuffer to, int begin, int end) {
    long bits = 0;
    int at = begin;
    while (at < end) {
      int count = Math.min(COPIED, end - at);
      to.put(at, from, start + at - begin, count);
      bits += sum(to, at, at + count);
      at += count;
    }
    return bits;
  }
}
