/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import io.sparqr.threads.ParallelLoop;
import java.util.Arrays;

/**
 * Relaxed amalgamation of the {@link FundamentalSupernodes}: from the roots down, a supernode is
 * merged into its parent's group under the rules of {@link Amalgamation}; any child qualifies, not
 * just the last one, because the columns get their final order afterwards. O(n).
 *
 * <p>The rules count zeros in R. In a QR the child's contribution rows widen too: all its work is
 * done at the merged front's width. So a child of more than {@value #LARGE_ENTRIES} entries, for
 * which overheads are negligible, is merged only if its width grows by at most a tenth. That saves
 * 17% of the flops on nug15 and 7% on ch7-8-b3 (COLAMD) for a few more fronts.
 */
final class Supernodes {

  /** A front of more entries (rows x columns) is large. */
  static final int LARGE_ENTRIES = 100_000;

  /** The largest relative growth of a large child's width. */
  private static final double LARGE_GROWTH = 0.1;

  /** The number of groups of columns. */
  final int count;

  /** Size n; group of a post number. Groups are numbered so that parents come after children. */
  final int[] groupOf;

  /** Size count; parent group or -1. */
  final int[] parent;

  /** Size count; pivot columns of a group. */
  final int[] pivots;

  /** Size count; non-pivot columns of a group: those of its topmost supernode. */
  final int[] tail;

  /** Groups that are known. */
  Supernodes(int[] groupOf, int[] parent, int[] pivots, int[] tail) {
    this.groupOf = groupOf;
    this.parent = parent;
    this.pivots = pivots;
    this.tail = tail;
    count = parent.length;
  }

  /**
   * Groups the columns.
   *
   * @param up size n; elimination tree by post number
   * @param counts size n; row counts of R by post number
   * @param leftmostCount size n; rows of A that begin at a post number
   */
  Supernodes(int[] up, int[] counts, long[] leftmostCount, Amalgamation rules) {
    var supernodes = new FundamentalSupernodes(up, counts, leftmostCount);
    int ns = supernodes.count;
    int[] columns = supernodes.columns.clone();
    int[] group = merge(supernodes, columns, rules);
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
        int above = supernodes.above[s];
        parent[g] = above < 0 ? -1 : number[group[above]];
        pivots[g] = columns[s];
        tail[g] = supernodes.beyond[s];
      }
    }
    groupOf = new int[up.length];
    ParallelLoop.ranges(
        groupOf.length,
        (from, to) -> {
          for (int j = from; j < to; j++) {
            groupOf[j] = number[group[supernodes.of[j]]];
          }
        });
  }

  /**
   * Top supernode of the group of each supernode.
   *
   * @param columns size ns; pivot columns of the supernodes; on return those of the groups
   */
  private static int[] merge(FundamentalSupernodes supernodes, int[] columns, Amalgamation rules) {
    int[] beyond = supernodes.beyond;
    int[] above = supernodes.above;
    double[] rows = supernodes.rows.clone();
    int ns = columns.length;
    int[] group = new int[ns];
    double[] zeros = new double[ns];
    Arrays.setAll(group, s -> s);
    if (!rules.relaxed()) {
      return group;
    }
    double[] passedOn = new double[ns];
    for (int s = 0; s < ns; s++) {
      passedOn[s] = FundamentalSupernodes.passedOn(rows[s], columns[s], beyond[s]);
      if (above[s] >= 0) {
        rows[above[s]] += passedOn[s];
      }
    }
    for (int s = ns - 1; s >= 0; s--) {
      if (above[s] < 0 || supernodes.cut[s]) {
        continue;
      }
      int g = group[above[s]];
      long width = (long) columns[s] + columns[g];
      // Explicit zeros per row: the child's rows of R widen to the parent's columns.
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
