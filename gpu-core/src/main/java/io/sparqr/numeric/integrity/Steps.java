/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.integrity;

import io.sparqr.numeric.ContributionBlock;
import io.sparqr.numeric.FrontFactor;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.Arrays;

/** How many reflectors a column of a task passes through at most. */
final class Steps {

  private Steps() {}

  /** The largest sum of min(rows, columns) over a path of the task's tree. O(fronts + rows). */
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
      long steps = Math.min(rows[i], f.fn());
      below[i] += steps;
      most = Math.max(most, below[i]);
      int parent = place(fronts, a.parent(fronts[i]));
      if (parent >= 0) {
        rows[parent] += Math.max(0, Math.min(steps - f.rank(), a.cn(fronts[i])));
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
