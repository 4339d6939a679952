/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import io.sparqr.error.DimensionMismatchException;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.Arrays;

/** The rows of A of a task by front, each front's in the order of the factorization. */
final class FrontRows {

  private final SymbolicAnalysis analysis;
  private final int[] fronts;
  private final boolean pivotRows;
  private final int[] start;
  private final int[] order;
  private final int[] pivotStart;

  /**
   * Groups rows.
   *
   * @param fronts the task's, ascending
   * @param rowFront front of each row, in the order of the factorization
   * @param pivotRows whether each front had one further row per pivot column after these: a ridge
   */
  FrontRows(SymbolicAnalysis analysis, int[] fronts, int[] rowFront, boolean pivotRows) {
    this.analysis = analysis;
    this.fronts = fronts;
    this.pivotRows = pivotRows;
    start = new int[fronts.length + 1];
    order = new int[rowFront.length];
    pivotStart = new int[fronts.length + 1];
    int[] index = new int[rowFront.length];
    for (int i = 0; i < index.length; i++) {
      index[i] = Arrays.binarySearch(fronts, rowFront[i]);
      if (index[i] < 0) {
        throw new IllegalArgumentException(
            "row " + i + " belongs to front " + rowFront[i] + ", which is not in the task");
      }
      start[index[i] + 1]++;
    }
    for (int f = 0; f < fronts.length; f++) {
      start[f + 1] += start[f];
      pivotStart[f + 1] = pivotStart[f] + analysis.fp(fronts[f]);
    }
    int[] next = Arrays.copyOf(start, fronts.length);
    for (int i = 0; i < index.length; i++) {
      order[next[index[i]]++] = i;
    }
  }

  /** The number of a front within the task. */
  int at(int front) {
    int at = Arrays.binarySearch(fronts, front);
    if (at < 0) {
      throw new IllegalArgumentException("front " + front + " is not in the task");
    }
    return at;
  }

  /** The number of rows of A of the task's k-th front, ridge rows apart. */
  int rows(int k) {
    return start[k + 1] - start[k];
  }

  /** The i-th of these rows, as a row of the task. */
  int row(int k, int i) {
    return order[start[k] + i];
  }

  /** The number of ridge rows of the task's k-th front. */
  int pivotRows(int k) {
    return pivotRows ? analysis.fp(fronts[k]) : 0;
  }

  /** The first pivot of the task's k-th front among all pivots of the task. */
  int pivot(int k) {
    return pivotStart[k];
  }

  /** The number of pivots of the task. */
  int pivots() {
    return pivotStart[fronts.length];
  }

  /**
   * Compares with the rows that were factorized.
   *
   * @throws DimensionMismatchException if they are not as many
   */
  void require(FrontReflectors f, int k) {
    int zeros = pivotRows(k);
    if (rows(k) + zeros != f.own().length) {
      throw new DimensionMismatchException(
          "front %d has %d rows where %d were factorized: rows or their order changed"
              .formatted(f.front(), rows(k), f.own().length - zeros),
          "rows",
          f.own().length - zeros,
          rows(k));
    }
  }
}
