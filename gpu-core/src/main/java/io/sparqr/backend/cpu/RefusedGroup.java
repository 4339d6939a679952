/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cpu;

import io.sparqr.symbolic.FrontMemory;
import io.sparqr.threads.TreeUnits;
import java.util.Arrays;

/**
 * The fronts of a group that was not taken by its Gram matrix, cut for reflectors into parts: small
 * subtrees, and single fronts above them. Threads may do parts side by side, each after those below
 * it. The cut depends on sizes alone.
 */
final class RefusedGroup {

  private static final int SHARES = 24;

  private final int[] members;
  private final int[] parent;
  private final TreeUnits parts;
  private final double[] told;
  private final long[] bytes;
  private final String why;

  /**
   * Cuts a group. O(fronts).
   *
   * @param members its fronts by index in the task, ascending
   * @param toldBefore flops that have been told of them
   * @param why it was not taken
   */
  RefusedGroup(SubtreeState state, int[] members, double toldBefore, String why) {
    this.members = members;
    this.why = why;
    double[] work = new double[members.length];
    parent = new int[members.length];
    for (int k = 0; k < members.length; k++) {
      double flops = state.analysis().reflectorFlops(state.front(members[k]));
      work[k] = flops + TreeRun.FRONT_OVERHEAD;
      parent[k] = Math.max(-1, Arrays.binarySearch(members, state.parentIndex(members[k])));
    }
    parts = TreeUnits.cut(work, parent, SHARES);
    told = new double[parts.count()];
    bytes = new long[parts.count()];
    double left = toldBefore;
    for (int p = 0; p < parts.count(); p++) {
      double foretold = 0;
      for (int i : fronts(p)) {
        int f = state.front(i);
        foretold += state.analysis().frontFlops(f);
        long its =
            FrontMemory.hostBytes(state.analysis().fm(f), state.analysis().fn(f), state.rhsCount());
        bytes[p] = Math.max(bytes[p], its);
      }
      told[p] = Math.min(left, foretold);
      left -= told[p];
    }
  }

  /** Number of parts; a part comes after all those below it. */
  int parts() {
    return parts.count();
  }

  /** Fronts of a part by index in the task, ascending. */
  int[] fronts(int part) {
    return Arrays.copyOfRange(members, parts.start(part), parts.start(part + 1));
  }

  /** By part: how often {@link #above} names it. */
  int[] pending() {
    return parts.childrenOutside();
  }

  /** The parts that wait for a part, one for each of its fronts whose parent is not in it. */
  int[] above(int part) {
    int[] above = new int[parts.start(part + 1) - parts.start(part)];
    int count = 0;
    for (int k = parts.start(part); k < parts.start(part + 1); k++) {
      if (parent[k] >= 0 && parts.unitOf(parent[k]) != part) {
        above[count++] = parts.unitOf(parent[k]);
      }
    }
    return Arrays.copyOf(above, count);
  }

  /** Flops of a part that have been told of already. */
  double told(int part) {
    return told[part];
  }

  /** Bytes of the largest front of a part. */
  long bytes(int part) {
    return bytes[part];
  }

  /** Why the group was not taken. */
  String why() {
    return why;
  }
}
