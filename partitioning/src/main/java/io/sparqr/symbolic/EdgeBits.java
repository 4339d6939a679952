/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import io.sparqr.sparse.SparsityPattern;
import io.sparqr.threads.ParallelLoop;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The edges of a {@link StarGraph} with few columns for its rows, as a regression on factors has:
 * one bit for each pair of columns. Most rows repeat edges of others, which a look at the bit finds
 * out; rows are read in their order by all threads. O(entries + n^2 / 64).
 */
final class EdgeBits {

  /** The table has at most a word for this many entries of the rows. */
  private static final int ENTRIES_PER_WORD = 8;

  /** Rows per piece of parallel work, and the most pieces. */
  private static final int PIECE = 1 << 14;

  private static final int MOST_PIECES = 64;

  private static final VarHandle WORD = MethodHandles.arrayElementVarHandle(long[].class);

  private final SparsityPattern a;
  private final int[] label;
  private final int n;

  /** Words of a column. */
  private final int words;

  /** Size n * words; bit c of column j tells of the edge to c, larger than j. */
  private final long[] bits;

  /**
   * Prepares the table.
   *
   * @param label size n; place of a column in the order
   */
  EdgeBits(SparsityPattern a, int[] label) {
    this.a = a;
    this.label = label;
    n = a.columns();
    words = words(n);
    bits = new long[Math.multiplyExact(n, words)];
  }

  private static int words(int n) {
    return (n + Long.SIZE - 1) / Long.SIZE;
  }

  /** Whether the table would be small beside the pattern. */
  static boolean fit(SparsityPattern a) {
    return (long) a.columns() * words(a.columns()) <= a.patternEntries() / ENTRIES_PER_WORD;
  }

  /**
   * The edges of each column, ascending.
   *
   * @param start size n+1; receives the offsets
   * @param leftmostCount size n; receives the number of rows with that leftmost label
   */
  int[] edges(int[] start, long[] leftmostCount) {
    int pieces = Math.min(MOST_PIECES, 1 + a.patterns() / PIECE);
    long[][] counts = new long[pieces][n];
    ParallelLoop.onAll(pieces, p -> mark(p, pieces, counts[p]));
    for (long[] count : counts) {
      for (int j = 0; j < n; j++) {
        leftmostCount[j] = Math.addExact(leftmostCount[j], count[j]);
      }
    }
    for (int j = 0; j < n; j++) {
      int size = 0;
      for (int w = j * words; w < (j + 1) * words; w++) {
        size += Long.bitCount(bits[w]);
      }
      start[j + 1] = start[j] + size;
    }
    int[] edges = new int[start[n]];
    ParallelLoop.onAll(
        MOST_PIECES,
        p -> {
          for (int j = (int) ((long) n * p / MOST_PIECES);
              j < (long) n * (p + 1) / MOST_PIECES;
              j++) {
            list(j, edges, start[j]);
          }
        });
    return edges;
  }

  private void mark(int piece, int pieces, long[] count) {
    int[] columnIndex = a.columnIndex();
    int to = (int) ((long) a.patterns() * (piece + 1) / pieces);
    int end = (int) a.rowStart()[(int) ((long) a.patterns() * piece / pieces)];
    for (int r = (int) ((long) a.patterns() * piece / pieces); r < to; r++) {
      int from = end;
      end = (int) a.rowStart()[r + 1];
      int least = n;
      for (int k = from; k < end; k++) {
        least = Math.min(least, label[columnIndex[k]]);
      }
      if (least < n) {
        count[least] = Math.addExact(count[least], a.multiplicity()[r]);
      }
      for (int k = from; k < end; k++) {
        int c = label[columnIndex[k]];
        int at = least * words + (c >> 6);
        // an outdated word costs a second write of a bit, no more
        if (c != least && (bits[at] >> c & 1) == 0) {
          WORD.getAndBitwiseOr(bits, at, 1L << c);
        }
      }
    }
  }

  private void list(int j, int[] edges, int from) {
    int at = from;
    for (int w = 0; w < words; w++) {
      for (long rest = bits[j * words + w]; rest != 0; rest &= rest - 1) {
        edges[at++] = w * Long.SIZE + Long.numberOfTrailingZeros(rest);
      }
    }
  }
}
