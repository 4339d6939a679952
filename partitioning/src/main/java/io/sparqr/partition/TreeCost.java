/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.partition;

import io.sparqr.symbolic.FrontMemory;
import io.sparqr.symbolic.SymbolicAnalysis;

/**
 * What fronts cost: seconds on a worker = flops / rate + bytes of the assembled fronts / byte rate
 * + a fixed cost a front. The last two are what small fronts spend their time on.
 */
final class TreeCost {

  /** Seconds a front costs whatever its size: calls, maps, scheduling. */
  private static final double FRONT_SECONDS = 1e-6;

  final int fronts;
  final int[] parent;
  final double[] flops;
  final long[] frontBytes;

  /** Bytes of each front's contribution block. */
  final long[] blockBytes;

  /** Costs of an analysis with right-hand sides carried along. O(nf). */
  TreeCost(SymbolicAnalysis analysis, int rhs) {
    fronts = analysis.fronts();
    parent = new int[fronts];
    flops = new double[fronts];
    frontBytes = new long[fronts];
    blockBytes = new long[fronts];
    for (int f = 0; f < fronts; f++) {
      parent[f] = analysis.parent(f);
      flops[f] = analysis.frontFlops(f);
      frontBytes[f] = FrontMemory.frontBytes(analysis, f, rhs);
      blockBytes[f] = FrontMemory.contributionBytes(analysis, f, rhs);
    }
  }

  /** Seconds of some fronts together on a worker. */
  static double seconds(double flops, double bytes, double fronts, ResourceModel.Worker worker) {
    return flops / worker.flopsPerSecond()
        + bytes / worker.bytesPerSecond()
        + fronts * FRONT_SECONDS;
  }

  /** Seconds of one front on a worker. */
  double seconds(int f, ResourceModel.Worker worker) {
    return seconds(flops[f], frontBytes[f], 1, worker);
  }

  /**
   * Most bytes alive while a task works through its fronts in order: all inputs are there from the
   * start, a front is assembled beside its children's blocks, which then go; outputs stay.
   *
   * @param task fronts, ascending
   * @param owner task of every front; {@code id} for this one
   */
  long peakBytes(int[] task, int[] owner, int id, long inputBytes) {
    long live = inputBytes;
    long peak = live;
    long[] childBytes = new long[task.length];
    for (int k = 0; k < task.length; k++) {
      int f = task[k];
      peak = Math.max(peak, FrontMemory.add(live, frontBytes[f]));
      live = FrontMemory.add(live - childBytes[k], blockBytes[f]);
      int p = parent[f];
      if (p >= 0 && owner[p] == id) {
        int at = java.util.Arrays.binarySearch(task, k + 1, task.length, p);
        childBytes[at] = FrontMemory.add(childBytes[at], blockBytes[f]);
      }
    }
    return peak;
  }
}
