/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

/**
 * Bytes of fronts and contribution blocks in a plain layout, without any backend's padding. Sums
 * and products saturate at Long.MAX_VALUE instead of wrapping.
 */
public final class FrontMemory {

  private FrontMemory() {}

  /** Bytes of an assembled front: fm x (fn + rhs) doubles. */
  public static long frontBytes(long fm, long fn, long rhs) {
    return multiply(8, multiply(fm, fn + rhs));
  }

  /**
   * Arithmetic intensity, flops a byte: how much a factorization does with what it holds. The one
   * figure that says whether a device is worth it.
   *
   * @param frontBytes of all fronts, right-hand sides not counted
   */
  public static double intensity(double flops, double frontBytes) {
    return frontBytes == 0 ? 0 : flops / frontBytes;
  }

  /** Bytes of a packed contribution block: the upper trapezoid of cm x cn and cm x rhs doubles. */
  public static long contributionBytes(long cm, long cn, long rhs) {
    long trapezoid = multiply(cm, cn + rhs) - cm * (cm - 1) / 2;
    return multiply(8, trapezoid);
  }

  /** Bytes of front f of an analysis. */
  public static long frontBytes(SymbolicAnalysis analysis, int f, int rhs) {
    return frontBytes(analysis.fm(f), analysis.fn(f), rhs);
  }

  /** Bytes of the contribution block of front f of an analysis. */
  public static long contributionBytes(SymbolicAnalysis analysis, int f, int rhs) {
    return contributionBytes(analysis.cm(f), analysis.cn(f), rhs);
  }

  /** a + b for a, b at least 0, at most Long.MAX_VALUE. */
  public static long add(long a, long b) {
    long sum = a + b;
    return sum < 0 ? Long.MAX_VALUE : sum;
  }

  /** a b for a, b at least 0, at most Long.MAX_VALUE. */
  public static long multiply(long a, long b) {
    long high = Math.multiplyHigh(a, b);
    long low = a * b;
    return high != 0 || low < 0 ? Long.MAX_VALUE : low;
  }
}
