/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.partition;

import io.sparqr.symbolic.FrontMemory;
import io.sparqr.symbolic.Staircase;
import io.sparqr.symbolic.SymbolicAnalysis;

/**
 * A front whose rows of A are combined before they reach its task: each partition of the input
 * reduces its share to a triangle, and the front gets the triangles. Shares are taken to be equal,
 * and each to have the front's average of entries a row.
 *
 * @param flops of the partitions' reductions
 * @param frontFlops of the front afterwards
 * @param frontRows rows of the front afterwards
 */
public record CombinedRows(double flops, double frontFlops, long frontRows) {

  /** Bytes of rows that a partition reduces at a time. */
  private static final long BUFFER_BYTES = 16L << 20;

  /** Whether a front can ever have enough rows of A to be combined: twice as many as columns. */
  public static boolean enough(long own, long fn) {
    return own > 2 * fn;
  }

  /**
   * Whether a partition combines the rows of a front that it has at its end: there are more of them
   * than columns, and they have at least twice as many entries as the triangle.
   *
   * @param entries of all of these rows
   */
  public static boolean pays(double rows, double entries, long fn) {
    return rows > fn && entries >= (double) fn * (fn + 1);
  }

  /**
   * Whether partitions are expected to combine their rows of a front.
   *
   * @param own rows of A of the front
   * @param entries of a row
   */
  static boolean happens(long own, long fn, double entries, int parts) {
    double rows = (double) own / parts;
    return enough(own, fn) && pays(rows, rows * entries, fn);
  }

  /** The front's numbers if {@link #happens}. O(fn + the children's rows and columns). */
  static CombinedRows of(SymbolicAnalysis analysis, int f, int parts) {
    int fp = analysis.fp(f);
    int fn = analysis.fn(f);
    long[] stair = Staircase.of(analysis, f);
    long[] share = new long[fn];
    long own = 0;
    for (int k = 0; k < fn; k++) {
      own += k < fp ? analysis.leftmostCount(analysis.firstPivot(f) + k) : 0;
      share[k] = (own + parts - 1) / parts;
      stair[k] += parts * Math.min(share[k], k + 1L) - own;
    }
    long buffers = share[fn - 1] / (FrontMemory.tallRows(fn, 1, BUFFER_BYTES) - fn) + 1;
    double flops = 0;
    for (int k = 0; k < fn; k++) {
      // A buffer is reduced together with the triangle of those before it.
      flops += (share[k] + buffers) * (3 + 4.0 * (fn - k - 1));
    }
    return new CombinedRows(
        parts * flops, Staircase.flops(stair, fn, stair[fn - 1]), stair[fn - 1]);
  }
}
