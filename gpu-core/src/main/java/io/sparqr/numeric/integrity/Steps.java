/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.integrity;

import io.sparqr.numeric.ContributionBlock;
import io.sparqr.numeric.FrontFactor;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.Arrays;

/**
 * How many reflectors a column of a task passes through at most: the largest sum over a path of the
 * tree of what it passes through in a front. With m rows and n columns that is k = min(m, n), and k
 * more for each time that pairs of bundles of k rows are reduced to one (TSQR), log2(m / k) times.
 */
public final class Steps {

  private Steps() {}

  /** Reflectors that a column passes through in a front. */
  public static long ofFront(long rows, long columns) {
    long k = Math.min(rows, columns);
    return k == 0 ? 0 : k * (1 + 64 - Long.numberOfLeadingZeros((rows - 1) / k));
  }

  /** Those of a task with this result. O(fronts + rows). */
  static long of(SubtreeProblem problem, SubtreeFactor factor) {
    SymbolicAnalysis a = problem.analysis();
    int[] fronts = problem.fronts();
    long[] rows = new long[fronts.length];
    long[] below = new long[fronts.length];
    int last = 0;
    for (int f : problem.rows().front()) {
      last = last < fronts.length && fronts[last] == f ? last : place(fronts, f);
      rows[last]++;
    }
    for (ContributionBlock b : problem.inputs()) {
      rows[place(fronts, a.parent(b.front()))] += b.cm();
    }
    long most = 0;
    for (int i = 0; i < fronts.length; i++) {
      FrontFactor f = factor.fronts().get(i);
      below[i] += ofFront(rows[i], f.fn());
      most = Math.max(most, below[i]);
      int parent = place(fronts, a.parent(fronts[i]));
      if (parent >= 0) {
        rows[parent] +=
            Math.max(0, Math.min(Math.min(rows[i], f.fn()) - f.rank(), a.cn(fronts[i])));
        below[parent] = Math.max(below[parent], below[i]);
      }
    }
    return most;
  }

  private static int place(int[] fronts, int f) {
    int guess = f < 0 ? -1 : f - fronts[0];
    return guess >= 0 && guess < fronts.length && fronts[guess] == f
        ? guess
        : Arrays.binarySearch(fronts, f);
  }
}
