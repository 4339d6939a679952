/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

/**
 * The staircase of a front: stair[k] = number of its rows whose leftmost column is local column k
 * or an earlier one, k in [0, fn). Rows of A begin at pivot columns; row i of a child's
 * contribution block begins at the child's i-th tail column.
 */
public final class Staircase {

  private Staircase() {}

  /**
   * The staircase of front f at full rank, size fn; stair[fn-1] = fm. O(fn + the children's cm and
   * cn).
   */
  public static long[] of(SymbolicAnalysis analysis, int f) {
    SymbolicAnalysis.Data data = analysis.data();
    int fp = analysis.fp(f);
    int fn = analysis.fn(f);
    int first = analysis.firstPivot(f);
    long[] stair = new long[fn];
    for (int k = 0; k < fp; k++) {
      stair[k] = data.leftmostCount().get(first + k);
    }
    int tail = data.tailStart()[f];
    for (int q = 0; q < analysis.childCount(f); q++) {
      int c = analysis.child(f, q);
      int start = data.tailStart()[c];
      long rows = analysis.cm(c);
      int k = fp;
      for (int i = 0; i < rows; i++) {
        int position = data.tailColumns()[start + i];
        if (position < first + fp) {
          stair[position - first]++;
          continue;
        }
        while (data.tailColumns()[tail + k - fp] != position) {
          k++;
        }
        stair[k]++;
      }
    }
    for (int k = 1; k < fn; k++) {
      stair[k] += stair[k - 1];
    }
    return stair;
  }

  /**
   * Flops of Householder QR of a staircase matrix with fm rows, zeros below the staircase skipped:
   * step k has a reflector of h = max(stair[k], k+1) - k rows, 3h to compute it and 4h for each of
   * the fn-k-1 columns it is applied to; min(fm, fn) steps (Golub and Van Loan, section 5.2).
   */
  public static double flops(long[] stair, int fn, long fm) {
    double sum = 0;
    long steps = Math.min(fm, fn);
    for (int k = 0; k < steps; k++) {
      double h = Math.max(stair[k], k + 1L) - k;
      sum += h * (3 + 4.0 * (fn - k - 1));
    }
    return sum;
  }
}
