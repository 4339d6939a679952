/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import io.sparqr.sparse.SparsityPattern;
import java.util.Arrays;

/**
 * The rest of A without the singletons: the nonempty rows not removed with a singleton, and the
 * columns that still have an entry, renumbered 0 .. n2-1 in their original order. Columns without
 * any entry are listed separately; orderings skip them.
 *
 * @param pattern the remaining matrix, rows still distinct
 * @param originalColumn size n2; original index of a column of {@code pattern}
 * @param emptyColumns original indices of columns without a live entry that are not singletons
 * @param emptyRows rows of A without an entry
 */
record Remainder(
    SparsityPattern pattern, int[] originalColumn, int[] emptyColumns, long emptyRows) {

  /** Removes the singletons. O(entries). */
  static Remainder of(SparsityPattern a, ColumnSingletons singletons) {
    int n = a.columns();
    int[] number = new int[n];
    int[] original = new int[n];
    int[] empty = new int[n];
    int n2 = 0;
    int emptyCount = 0;
    for (int j = 0; j < n; j++) {
      if (singletons.liveRows[j] > 0) {
        number[j] = n2;
        original[n2++] = j;
      } else if (!singletons.columnTaken[j]) {
        empty[emptyCount++] = j;
      }
    }
    long emptyRows = 0;
    int kept = 0;
    int entries = 0;
    for (int r = 0; r < a.patterns(); r++) {
      int length = (int) (a.rowStart()[r + 1] - a.rowStart()[r]);
      if (length == 0) {
        emptyRows += a.multiplicity()[r];
      } else if (!singletons.rowTaken[r]) {
        kept++;
        entries += length;
      }
    }
    return new Remainder(
        n2 == n && kept == a.patterns() ? a : compress(a, singletons, number, n2, kept, entries),
        Arrays.copyOf(original, n2),
        Arrays.copyOf(empty, emptyCount),
        emptyRows);
  }

  private static SparsityPattern compress(
      SparsityPattern a, ColumnSingletons singletons, int[] number, int n2, int kept, int entries) {
    long[] start = new long[kept + 1];
    int[] index = new int[entries];
    long[] multiplicity = new long[kept];
    int row = 0;
    int next = 0;
    for (int r = 0; r < a.patterns(); r++) {
      if (singletons.rowTaken[r] || a.rowStart()[r + 1] == a.rowStart()[r]) {
        continue;
      }
      for (long k = a.rowStart()[r]; k < a.rowStart()[r + 1]; k++) {
        index[next++] = number[a.columnIndex()[(int) k]];
      }
      multiplicity[row++] = a.multiplicity()[r];
      start[row] = next;
    }
    return new SparsityPattern(n2, start, index, multiplicity);
  }
}
