/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.integrity;

import io.sparqr.numeric.ContributionBlock;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.Arrays;

/**
 * The largest number of reflectors that a column of a task passes through: the maximum over the
 * paths of the tree of the sum over their fronts. In a front of m rows and n columns it is k =
 * min(m, n), plus k for each of the log2(m / k) times that pairs of bundles of k rows are reduced
 * to one (TSQR).
 */
public final class Steps {

  private Steps() {}

  /** Reflectors that a column passes through in a front. */
  public static long ofFront(long rows, long columns) {
    long k = Math.min(rows, columns);
    return k == 0 ? 0 : k * (1 + 64 - Long.numberOfLeadingZeros((rows - 1) / k));
  }

  /** The number for a task with this result. O(fronts + rows). */
  static long of(SubtreeProblem problem, SubtreeFactor factor) {
    return of(problem, FactorOut.ranks(problem, factor));
  }

  /** The number for a task whose fronts have these ranks. O(fronts + rows). */
  static long of(SubtreeProblem problem, int[] ranks) {
    SymbolicAnalysis a = problem.analysis();
    int[] fronts = problem.fronts();
    long[] rows = rows(problem);
    long[] below = new long[fronts.length];
    long most = 0;
    for (int i = 0; i < fronts.length; i++) {
      int fn = a.fn(fronts[i]);
      below[i] += ofFront(rows[i], fn);
      most = Math.max(most, below[i]);
      int parent = place(fronts, a.parent(fronts[i]));
      if (parent >= 0) {
        rows[parent] += Math.max(0, Math.min(Math.min(rows[i], fn) - ranks[i], a.cn(fronts[i])));
        below[parent] = Math.max(below[parent], below[i]);
      }
    }
    return most;
  }

  /** Rows of A and of blocks from outside, by front. */
  private static long[] rows(SubtreeProblem problem) {
    int[] fronts = problem.fronts();
    long[] rows = new long[fronts.length];
    int first = fronts.length == 0 ? 0 : fronts[0];
    for (int f : problem.rows().front()) {
      int guess = f - first;
      boolean right = guess >= 0 && guess < fronts.length && fronts[guess] == f;
      rows[right ? guess : place(fronts, f)]++;
    }
    for (ContributionBlock b : problem.inputs()) {
      rows[place(fronts, problem.analysis().parent(b.front()))] += b.cm();
    }
    return rows;
  }

  private static int place(int[] fronts, int f) {
    int guess = f < 0 ? -1 : f - fronts[0];
    return guess >= 0 && guess < fronts.length && fronts[guess] == f
        ? guess
        : Arrays.binarySearch(fronts, f);
  }
}
