/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

/**
 * Bytes of fronts and contribution blocks in a plain layout, without any backend's padding. Sums
 * and products saturate at Long.MAX_VALUE instead of wrapping.
 */
public final class FrontMemory {

  /** A CPU always assembles fronts of up to this many entries whole. */
  public static final long WHOLE_FRONT_ENTRIES = 1L << 23;

  /** Approximate bytes of rows merged into a tall front's triangle at a time. */
  public static final long CHUNK_BYTES = 32L << 20;

  /** The most bytes that one buffer outside the heap can have. */
  public static final long MOST_BUFFER_BYTES = Integer.MAX_VALUE - 8;

  private FrontMemory() {}

  /**
   * Whether a CPU merges a front's rows into a triangle chunk by chunk: more than four rows per
   * column, and too large to be held whole.
   */
  public static boolean isTall(long fm, long fn, long rhs) {
    return fm > 4 * fn && multiply(fm, fn + rhs) > WHOLE_FRONT_ENTRIES;
  }

  /** Rows of a tall front merged into its triangle at a time. */
  public static long tallRows(long fn, long rhs) {
    return tallRows(fn, rhs, CHUNK_BYTES);
  }

  /** As above, for a buffer of about this many bytes: at least a quarter more rows than columns. */
  public static long tallRows(long fn, long rhs, long bytes) {
    return Math.max(bytes / 8 / Math.max(fn + rhs, 1), fn + fn / 4 + 1);
  }

  /**
   * Bytes that a CPU needs for a front besides its inputs: the assembled front or, for a tall one,
   * its triangle and a chunk of its rows.
   */
  public static long hostBytes(long fm, long fn, long rhs) {
    return isTall(fm, fn, rhs)
        ? add(frontBytes(fn, fn, rhs), frontBytes(Math.min(fm, tallRows(fn, rhs)), fn, rhs))
        : frontBytes(fm, fn, rhs);
  }

  /**
   * Rows that a front surely has, whatever is done with its children's blocks: fm, or as many as it
   * has columns where these may be reduced to a triangle first ({@link Reduction}).
   *
   * @param tall {@link Reduction#tall}
   */
  public static long certainRows(long fm, long fn, long tall) {
    return fm <= multiply(tall, fn) ? fm : fn;
  }

  /**
   * Bytes of a front that a CPU still holds when its contribution block and its rows of R are
   * packed: the whole front, or the triangle of a tall one.
   */
  public static long packedBytes(SymbolicAnalysis analysis, int f, int rhs) {
    long fn = analysis.fn(f);
    return isTall(analysis.fm(f), fn, rhs)
        ? frontBytes(fn, fn, rhs)
        : frontBytes(analysis.fm(f), fn, rhs);
  }

  /** Bytes of an assembled front: fm x (fn + rhs) doubles. */
  public static long frontBytes(long fm, long fn, long rhs) {
    return multiply(8, multiply(fm, fn + rhs));
  }

  /**
   * Arithmetic intensity, the flops per byte of the fronts: the one figure that tells whether a
   * device pays.
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

  /**
   * Bytes of the heap that the pivot rows of a front take: those of Q'b. R is outside the heap,
   * unless the front's rows are too many for one buffer.
   */
  public static long resultBytes(SymbolicAnalysis analysis, int f, long rhs) {
    long pivots = Math.min(analysis.fp(f), analysis.fm(f));
    long values = contributionBytes(pivots, analysis.fn(f), 0);
    long heap = values > MOST_BUFFER_BYTES ? values : 0;
    return add(heap, multiply(8, multiply(pivots, rhs)));
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
