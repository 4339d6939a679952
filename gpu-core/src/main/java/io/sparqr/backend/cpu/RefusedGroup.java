/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cpu;

import io.sparqr.symbolic.FrontMemory;
import io.sparqr.threads.TreeUnits;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The fronts of a group that was not taken by its Gram matrix, cut for reflectors: small subtrees
 * that threads may factor side by side, and the fronts above them, one after the other. The cut
 * depends on sizes alone.
 */
final class RefusedGroup {

  private static final int SHARES = 24;

  /**
   * Bytes of the largest front of a subtree that goes beside others: its blocks are smaller, so
   * that it stays within the room that {@link UnitBooking} leaves for each thread.
   */
  private static final long MOST_BYTES = UnitBooking.THREAD_BYTES / 4;

  private final SubtreeState state;
  private final List<int[]> below = new ArrayList<>();
  private final int[] above;

  /**
   * Cuts a group. O(fronts).
   *
   * @param members its fronts by index in the task, ascending
   */
  RefusedGroup(SubtreeState state, int[] members) {
    this.state = state;
    double[] work = new double[members.length];
    int[] parent = new int[members.length];
    for (int k = 0; k < members.length; k++) {
      work[k] = reflectorFlops(members[k]) + TreeRun.FRONT_OVERHEAD;
      parent[k] = Math.max(-1, Arrays.binarySearch(members, state.parentIndex(members[k])));
    }
    TreeUnits units = TreeUnits.cut(work, parent, SHARES);
    int[] pending = units.childrenOutside();
    int[] rest = new int[members.length];
    int count = 0;
    for (int u = 0; u < units.count(); u++) {
      int[] of = Arrays.copyOfRange(members, units.start(u), units.start(u + 1));
      if (pending[u] == 0 && units.count() > 1 && fits(of)) {
        below.add(of);
      } else {
        System.arraycopy(of, 0, rest, count, of.length);
        count += of.length;
      }
    }
    above = Arrays.copyOf(rest, count);
  }

  private boolean fits(int[] fronts) {
    for (int i : fronts) {
      int f = state.front(i);
      long rows = state.analysis().fm(f);
      if (FrontMemory.hostBytes(rows, state.analysis().fn(f), state.rhsCount()) > MOST_BYTES) {
        return false;
      }
    }
    return true;
  }

  private double reflectorFlops(int index) {
    return state.analysis().reflectorFlops(state.front(index));
  }

  private double foretold(int index) {
    return state.analysis().frontFlops(state.front(index));
  }

  /** Number of the subtrees that do not wait for each other. */
  int subtrees() {
    return below.size();
  }

  /** Fronts of such a subtree, ascending. */
  int[] subtree(int u) {
    return below.get(u);
  }

  /** Flops that are foretold of such a subtree. */
  double flops(int u) {
    return Arrays.stream(below.get(u)).mapToDouble(this::foretold).sum();
  }

  /** The other fronts, ascending: after all subtrees. */
  int[] above() {
    return above;
  }
}
