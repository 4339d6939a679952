/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cpu;

import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.Arrays;

/**
 * A task's fronts cut into runs of consecutive fronts that one thread works off: whole small
 * subtrees, bundled up to a share of the work, and each front above them by itself. Units are in
 * postorder, so a unit depends only on earlier ones.
 */
final class TreeUnits {

  /** What a front costs beyond its flops, in flops. */
  private static final double FRONT_OVERHEAD = 4e3;

  private static final double LEAST_UNIT = 1e6;

  /** size units+1; fronts of unit u are [start[u], start[u+1]) of the task's list. */
  final int[] start;

  /** size fronts; unit of a front. */
  final int[] unitOf;

  /** size units; children in other units. */
  final int[] pending;

  private TreeUnits(int[] start, int[] unitOf, int[] pending) {
    this.start = start;
    this.unitOf = unitOf;
    this.pending = pending;
  }

  /** Cuts for about {@code shares} units' worth of subtrees. O(fronts). */
  static TreeUnits cut(SubtreeState state, int shares) {
    SymbolicAnalysis analysis = state.analysis();
    int count = state.frontCount();
    double[] below = new double[count];
    int[] parent = new int[count];
    double total = 0;
    for (int i = 0; i < count; i++) {
      double own = analysis.frontFlops(state.front(i)) + FRONT_OVERHEAD;
      total += own;
      below[i] += own;
      parent[i] = state.parentIndex(i);
      if (parent[i] >= 0) {
        below[parent[i]] += below[i];
      }
    }
    double share = shares <= 1 ? Double.POSITIVE_INFINITY : Math.max(total / shares, LEAST_UNIT);
    int[] start = new int[count + 1];
    int[] unitOf = new int[count];
    int units = 0;
    double sum = 0;
    for (int i = 0; i < count; i++) {
      unitOf[i] = units;
      boolean small = below[i] <= share;
      sum += small ? analysis.frontFlops(state.front(i)) + FRONT_OVERHEAD : 0;
      boolean top = parent[i] < 0 || below[parent[i]] > share;
      boolean nextSmall = i + 1 < count && below[i + 1] <= share;
      // Cut only where whole subtrees end, or a unit would wait for one that runs beside it.
      if (!small || !nextSmall || top && sum >= share / 2) {
        start[++units] = i + 1;
        sum = 0;
      }
    }
    int[] pending = new int[units];
    for (int i = 0; i < count; i++) {
      if (parent[i] >= 0 && unitOf[parent[i]] != unitOf[i]) {
        pending[unitOf[parent[i]]]++;
      }
    }
    return new TreeUnits(Arrays.copyOf(start, units + 1), unitOf, pending);
  }

  int count() {
    return pending.length;
  }
}
