/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import java.util.Arrays;

/**
 * Fundamental supernodes: columns j, j+1 (post numbers) are in one when j is the only child of j+1
 * and row j of R is row j+1 and the diagonal (Liu, Ng and Peyton 1993). O(n).
 *
 * <p>A supernode with rows that begin all along its columns (a wide staircase: one dense row of A
 * among millions of short ones is enough) would be a front of as many rows as columns, although
 * each row is eliminated a few columns after it begins. If such a front would exceed {@value
 * #CUT_ENTRIES} entries, the supernode is cut into a chain of fronts that pass few rows on. A dense
 * front, whose rows begin in its first columns, stays whole: its parts would pass on nearly all of
 * them.
 */
final class FundamentalSupernodes {

  /** A front with a wide staircase is cut beyond this many entries (rows x columns). */
  static final long CUT_ENTRIES = 1L << 24;

  /**
   * A front is cut only if it has at least 1 / {@value} as many rows as columns, so that a
   * supernode of n columns becomes at most about {@value} ln(n) fronts.
   */
  private static final int MOST_CUTS = 64;

  /** Number of supernodes. */
  final int count;

  /** Size n; supernode of a post number, ascending. */
  final int[] of;

  /** Size count; the number of pivot columns of each supernode. */
  final int[] columns;

  /** Size count; the number of non-pivot columns of each supernode. */
  final int[] beyond;

  /** Size count; parent supernode or -1. */
  final int[] above;

  /** Size count; rows of A that begin at its columns. */
  final double[] rows;

  /** Size count; whether it was cut for its size and its parent continues it. */
  final boolean[] cut;

  /**
   * Finds the supernodes.
   *
   * @param up size n; elimination tree by post number
   * @param counts size n; row counts of R by post number
   * @param leftmostCount size n; rows of A that begin at a post number
   */
  FundamentalSupernodes(int[] up, int[] counts, long[] leftmostCount) {
    int n = up.length;
    int[] children = new int[n];
    for (int p : up) {
      if (p >= 0) {
        children[p]++;
      }
    }
    of = new int[n];
    int[] first = new int[n + 1];
    boolean[] continued = new boolean[n];
    double[] arriving = new double[n];
    double[] own = new double[n];
    int s = -1;
    double height = 0;
    for (int j = 0; j < n; j++) {
      boolean joins = j > 0 && up[j - 1] == j && children[j] == 1 && counts[j - 1] == counts[j] + 1;
      boolean divided = joins && divides(j, first[s], counts, height, leftmostCount[j]);
      if (!joins || divided) {
        if (s >= 0 && up[j - 1] >= 0) {
          arriving[up[j - 1]] += passedOn(height, j - first[s], counts[j - 1] - 1);
          continued[s] = divided;
        }
        first[++s] = j;
        height = arriving[j];
      }
      height += leftmostCount[j];
      own[s] += leftmostCount[j];
      of[j] = s;
    }
    count = s + 1;
    first[count] = n;
    columns = new int[count];
    beyond = new int[count];
    above = new int[count];
    rows = Arrays.copyOf(own, count);
    cut = Arrays.copyOf(continued, count);
    for (int k = 0; k < count; k++) {
      int last = first[k + 1] - 1;
      columns[k] = last + 1 - first[k];
      beyond[k] = counts[last] - 1;
      above[k] = up[last] < 0 ? -1 : of[up[last]];
    }
  }

  /** Rows of a contribution block: the rows below the pivots, at most as many as columns. */
  static double passedOn(double rows, int pivots, int tail) {
    return Math.min(Math.max(rows - pivots, 0), tail);
  }

  /**
   * Whether the front that begins at column {@code first}, with this many rows, ends before column
   * j.
   */
  private static boolean divides(int j, int first, int[] counts, double height, long more) {
    double width = counts[first];
    double most = Math.max(CUT_ENTRIES / width, width / MOST_CUTS);
    return height <= most
        && height + more > most
        && passedOn(height, j - first, counts[j - 1] - 1) <= 0.5 * most;
  }
}
