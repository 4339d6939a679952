/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import java.util.Arrays;

/**
 * Fundamental supernodes, then relaxed amalgamation: columns j, j+1 (post numbers) are in one
 * fundamental supernode when j is the only child of j+1 and row j of R is row j+1 and the diagonal
 * (Liu, Ng and Peyton 1993). Then, from the roots down, a supernode is merged into its parent's
 * group under the rules of {@link Amalgamation}; any child may be, not just the last one, for the
 * final order of the columns is made after it. O(n).
 *
 * <p>The rules look at zeros in R. In a QR the rows that a child passes on widen too: merged, all
 * its work is done at the merged front's width. So a child of more than {@value #LARGE_ENTRIES}
 * entries, whose own cost no overhead matters to, is merged only if its width grows by at most a
 * tenth. That saves 17% of the flops on nug15 and 7% on ch7-8-b3 (COLAMD) for a few more fronts.
 */
final class Supernodes {

  /** Entries (rows x columns) from which on a front is large. */
  static final int LARGE_ENTRIES = 100_000;

  /** Most that a large child's width may grow by, as a fraction. */
  private static final double LARGE_GROWTH = 0.1;

  /** Number of groups. */
  final int count;

  /** Size n; group of a post number. Groups are numbered so that parents come after children. */
  final int[] groupOf;

  /** Size count; parent group or -1. */
  final int[] parent;

  /** Size count; pivot columns of a group. */
  final int[] pivots;

  /** Size count; non-pivot columns of a group: those of its topmost supernode. */
  final int[] tail;

  /**
   * Groups the columns.
   *
   * @param up size n; elimination tree by post number
   * @param counts size n; row counts of R by post number
   * @param leftmostCount size n; rows of A that begin at a post number
   */
  Supernodes(int[] up, int[] counts, long[] leftmostCount, Amalgamation rules) {
    int n = up.length;
    int[] children = new int[n];
    for (int j = 0; j < n; j++) {
      if (up[j] >= 0) {
        children[up[j]]++;
      }
    }
    int[] snode = new int[n];
    int[] last = new int[n];
    int ns = 0;
    for (int j = 0; j < n; j++) {
      boolean joins = j > 0 && up[j - 1] == j && children[j] == 1 && counts[j - 1] == counts[j] + 1;
      if (!joins) {
        ns++;
      }
      snode[j] = ns - 1;
      last[ns - 1] = j;
    }
    int[] columns = new int[ns];
    int[] beyond = new int[ns];
    int[] above = new int[ns];
    for (int s = 0; s < ns; s++) {
      columns[s] = last[s] - (s == 0 ? -1 : last[s - 1]);
      beyond[s] = counts[last[s]] - 1;
      above[s] = up[last[s]] < 0 ? -1 : snode[up[last[s]]];
    }
    double[] rows = new double[ns];
    for (int j = 0; j < n; j++) {
      rows[snode[j]] += leftmostCount[j];
    }
    int[] group = merge(columns, beyond, above, rows, rules);
    int[] number = new int[ns];
    int groups = 0;
    for (int s = 0; s < ns; s++) {
      if (group[s] == s) {
        number[s] = groups++;
      }
    }
    count = groups;
    parent = new int[groups];
    pivots = new int[groups];
    tail = new int[groups];
    for (int s = 0; s < ns; s++) {
      if (group[s] == s) {
        int g = number[s];
        parent[g] = above[s] < 0 ? -1 : number[group[above[s]]];
        pivots[g] = columns[s];
        tail[g] = beyond[s];
      }
    }
    groupOf = new int[n];
    for (int j = 0; j < n; j++) {
      groupOf[j] = number[group[snode[j]]];
    }
  }

  /**
   * Top supernode of the group of each supernode; adds the columns up in {@code columns}.
   *
   * @param rows size ns; each supernode's own rows of A; on return rows of the groups' fronts
   */
  private static int[] merge(
      int[] columns, int[] beyond, int[] above, double[] rows, Amalgamation rules) {
    int ns = columns.length;
    int[] group = new int[ns];
    double[] zeros = new double[ns];
    Arrays.setAll(group, s -> s);
    if (rules.equals(Amalgamation.none())) {
      return group;
    }
    double[] passedOn = new double[ns];
    for (int s = 0; s < ns; s++) {
      passedOn[s] = Math.min(Math.max(rows[s] - columns[s], 0), beyond[s]);
      if (above[s] >= 0) {
        rows[above[s]] += passedOn[s];
      }
    }
    for (int s = ns - 1; s >= 0; s--) {
      if (above[s] < 0) {
        continue;
      }
      int g = group[above[s]];
      long width = (long) columns[s] + columns[g];
      // The child's rows of R grow to the parent's columns: that many explicit zeros each.
      double wider = (double) columns[g] + beyond[g] - beyond[s];
      double own = (double) columns[s] + beyond[s];
      if (rows[s] * own > LARGE_ENTRIES && wider > LARGE_GROWTH * own) {
        continue;
      }
      double all = zeros[s] + zeros[g] + columns[s] * wider;
      double entries = 0.5 * width * (width + 1) + (double) width * beyond[g];
      double z = all / entries;
      if (width <= rules.width0()
          || wider == 0
          || (width <= rules.width1() && z < rules.zeros1())
          || (width <= rules.width2() && z < rules.zeros2())
          || z < rules.zeros3()) {
        group[s] = g;
        columns[g] += columns[s];
        zeros[g] = all;
        rows[g] += rows[s] - passedOn[s];
      }
    }
    return group;
  }
}
