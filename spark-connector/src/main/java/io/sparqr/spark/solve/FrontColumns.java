/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.solve;

import io.sparqr.symbolic.SymbolicAnalysis;

/** Where positions are among the columns of a front. */
public final class FrontColumns {

  private FrontColumns() {}

  /**
   * The local column of a position. Doubles its steps, then halves: few positions are far from each
   * other, many are neighbours.
   *
   * @param from a local column at or before it
   * @throws IllegalStateException if the front does not have it
   */
  public static int find(SymbolicAnalysis analysis, int front, int position, int from) {
    int pivot = position - analysis.firstPivot(front);
    if (pivot >= 0 && pivot < analysis.fp(front)) {
      return pivot;
    }
    int fn = analysis.fn(front);
    int step = 1;
    while (from + step < fn && analysis.column(front, from + step) <= position) {
      step *= 2;
    }
    int low = from + step / 2;
    int high = Math.min(from + step, fn) - 1;
    while (low < high) {
      int middle = (low + high + 1) >>> 1;
      if (analysis.column(front, middle) <= position) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    if (low >= fn || analysis.column(front, low) != position) {
      throw new IllegalStateException("front " + front + " has no column at position " + position);
    }
    return low;
  }
}
