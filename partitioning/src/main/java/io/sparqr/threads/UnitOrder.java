/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.threads;

import java.util.Collections;
import java.util.PriorityQueue;

/**
 * The order of a tree's units: from the leaves up, first in postorder first, or from the roots
 * down, last first. Not thread-safe.
 */
public final class UnitOrder {

  private final PriorityQueue<Integer> ready;

  /** By unit: number of unfinished units that it waits for. */
  private final int[] pending;

  /** Units that wait for unit u: after[start[u]] .. after[start[u + 1] - 1], with repetitions. */
  private final int[] start;

  private final int[] after;
  private int left;

  private UnitOrder(TreeUnits units, boolean down) {
    int count = units.count();
    this.ready = new PriorityQueue<>(down ? Collections.reverseOrder() : null);
    this.pending = new int[count];
    this.start = new int[count + 1];
    this.left = count;
    int nodes = units.start(count);
    for (int i = 0; i < nodes; i++) {
      if (units.leaves(i)) {
        start[first(units, i, down) + 1]++;
      }
    }
    for (int u = 0; u < count; u++) {
      start[u + 1] += start[u];
    }
    after = new int[start[count]];
    int[] next = start.clone();
    for (int i = 0; i < nodes; i++) {
      if (units.leaves(i)) {
        int later = first(units, i, !down);
        after[next[first(units, i, down)]++] = later;
        pending[later]++;
      }
    }
    for (int u = 0; u < count; u++) {
      if (pending[u] == 0) {
        ready.add(u);
      }
    }
  }

  private static int first(TreeUnits units, int node, boolean down) {
    return units.unitOf(down ? units.parent(node) : node);
  }

  /** Children before their parents. */
  public static UnitOrder up(TreeUnits units) {
    return new UnitOrder(units, false);
  }

  /** Parents before their children. */
  public static UnitOrder down(TreeUnits units) {
    return new UnitOrder(units, true);
  }

  /** Whether every unit is finished. */
  public boolean isDone() {
    return left == 0;
  }

  /** Takes a unit that is ready; -1 if there is none. */
  public int next() {
    return ready.isEmpty() ? -1 : ready.poll();
  }

  /** Marks a unit as finished; returns whether another has become ready. */
  public boolean finished(int unit) {
    left--;
    boolean more = false;
    for (int k = start[unit]; k < start[unit + 1]; k++) {
      if (--pending[after[k]] == 0) {
        ready.add(after[k]);
        more = true;
      }
    }
    return more;
  }
}
