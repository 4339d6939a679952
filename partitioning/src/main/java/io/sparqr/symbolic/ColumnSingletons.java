/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import io.sparqr.sparse.SparsityPattern;
import java.util.Arrays;

/**
 * Column singletons: columns with one live entry, each taken out together with that entry's row,
 * again and again until none is left. In the order taken they and their rows form an upper
 * triangular R11: the row of the p-th singleton has no entry in an earlier one, since an earlier
 * one had no live row but its own. What is left of A has no entry in any singleton column (Davis
 * 2011, Algorithm 915, section 2.1).
 *
 * <p>O(entries): per column only the number of its live row patterns and the exclusive or of their
 * numbers are kept, which is the number of the last one once only one is left.
 */
final class ColumnSingletons {

  /** Number of singletons, n1. */
  final int count;

  /** Entries of the singletons' rows. */
  final long entries;

  /** Size n1; original column of position p. */
  final int[] column;

  /** Size n; whether a column was taken. */
  final boolean[] columnTaken;

  /** Size patterns; whether a row pattern (of multiplicity 1) was taken with a singleton. */
  final boolean[] rowTaken;

  /** Size n; row patterns that are left in each column. */
  final int[] liveRows;

  private ColumnSingletons(
      long entries, int[] column, boolean[] columnTaken, boolean[] rowTaken, int[] liveRows) {
    this.count = column.length;
    this.entries = entries;
    this.column = column;
    this.columnTaken = columnTaken;
    this.rowTaken = rowTaken;
    this.liveRows = liveRows;
  }

  /** Finds the singletons, or none where the options want none. */
  static ColumnSingletons find(SparsityPattern a, SymbolicOptions options) {
    int n = a.columns();
    int patterns = a.patterns();
    int[] live = new int[n];
    int[] rowXor = new int[n];
    for (int r = 0; r < patterns; r++) {
      for (long k = a.rowStart()[r]; k < a.rowStart()[r + 1]; k++) {
        int j = a.columnIndex()[(int) k];
        live[j]++;
        rowXor[j] ^= r;
      }
    }
    boolean[] columnTaken = new boolean[n];
    boolean[] rowTaken = new boolean[patterns];
    if (!options.singletons()) {
      return new ColumnSingletons(0, new int[0], columnTaken, rowTaken, live);
    }
    boolean[] barred = new boolean[n];
    for (int j : options.notSingletons()) {
      barred[j] = true;
    }
    int[] queue = new int[n];
    int tail = 0;
    for (int j = 0; j < n; j++) {
      if (live[j] == 1 && !barred[j]) {
        queue[tail++] = j;
      }
    }
    int[] taken = new int[n];
    int count = 0;
    long entries = 0;
    for (int head = 0; head < tail; head++) {
      int j = queue[head];
      if (live[j] != 1 || a.multiplicity()[rowXor[j]] != 1) {
        continue;
      }
      int r = rowXor[j];
      taken[count++] = j;
      columnTaken[j] = true;
      rowTaken[r] = true;
      entries += a.rowStart()[r + 1] - a.rowStart()[r];
      for (long k = a.rowStart()[r]; k < a.rowStart()[r + 1]; k++) {
        int c = a.columnIndex()[(int) k];
        rowXor[c] ^= r;
        if (--live[c] == 1 && !barred[c]) {
          queue[tail++] = c;
        }
      }
    }
    return new ColumnSingletons(entries, Arrays.copyOf(taken, count), columnTaken, rowTaken, live);
  }
}
