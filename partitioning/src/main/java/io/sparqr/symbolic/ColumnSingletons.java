/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import io.sparqr.sparse.SparsityPattern;
import io.sparqr.threads.ParallelLoop;
import java.util.Arrays;

/**
 * Column singletons: columns with one live entry, removed together with that entry's row,
 * repeatedly until none is left. In order of removal they and their rows form an upper triangular
 * R11: the row of the p-th singleton has no entry in an earlier singleton, whose only live row was
 * its own. The remainder of A has no entry in any singleton column (Davis 2011, Algorithm 915,
 * section 2.1).
 *
 * <p>O(entries): each column keeps only the count of its live row patterns and the exclusive or of
 * their numbers, which identifies the last one when only one is left.
 */
final class ColumnSingletons {

  /** Entries per piece of parallel work, besides two for each column, at least. */
  private static final int PIECE = 1 << 16;

  private static final int MOST_PIECES = 32;

  /** Number of singletons, n1. */
  final int count;

  /** Entries of the singletons' rows. */
  final long entries;

  /** Size n1; original column of position p. */
  final int[] column;

  /** Size n; whether a column was removed. */
  final boolean[] columnTaken;

  /** Size patterns; whether a row pattern (of multiplicity 1) was removed with a singleton. */
  final boolean[] rowTaken;

  /** Size n; live row patterns of each column. */
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

  /** Finds the singletons; none if the options turn them off. */
  static ColumnSingletons find(SparsityPattern a, SymbolicOptions options) {
    int n = a.columns();
    int patterns = a.patterns();
    int pieces = (int) Math.max(1, Math.min(MOST_PIECES, a.patternEntries() / (2L * n + PIECE)));
    int[][] counts = new int[pieces][n];
    int[][] xors = new int[pieces][n];
    ParallelLoop.onAll(pieces, p -> count(a, p, pieces, counts[p], xors[p]));
    int[] live = counts[0];
    int[] rowXor = xors[0];
    for (int p = 1; p < pieces; p++) {
      for (int j = 0; j < n; j++) {
        live[j] += counts[p][j];
        rowXor[j] ^= xors[p][j];
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

  /** Counts the entries of a piece of the rows by column, and combines the rows' numbers. */
  private static void count(SparsityPattern a, int piece, int pieces, int[] live, int[] rowXor) {
    int[] index = a.columnIndex();
    long[] rowStart = a.rowStart();
    int to = (int) ((long) a.patterns() * (piece + 1) / pieces);
    for (int r = (int) ((long) a.patterns() * piece / pieces); r < to; r++) {
      int end = (int) rowStart[r + 1];
      for (int k = (int) rowStart[r]; k < end; k++) {
        int j = index[k];
        live[j]++;
        rowXor[j] ^= r;
      }
    }
  }
}
