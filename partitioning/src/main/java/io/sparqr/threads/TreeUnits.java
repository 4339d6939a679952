/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.threads;

import java.util.Arrays;

/**
 * A forest in postorder, cut into units of consecutive nodes for one thread each: whole small
 * subtrees, bundled up to a share of the work, and single nodes above them. Units are in postorder:
 * nodes of a unit have their children in it or in earlier ones, their parents in it or in later
 * ones.
 */
public final class TreeUnits {

  private static final double LEAST_UNIT = 1e6;

  /** size units+1; nodes of unit u are [start[u], start[u+1]). */
  private final int[] start;

  private final int[] unitOf;
  private final int[] parent;

  private TreeUnits(int[] start, int[] unitOf, int[] parent) {
    this.start = start;
    this.unitOf = unitOf;
    this.parent = parent;
  }

  /**
   * Cuts the subtrees into about {@code shares} units. O(nodes).
   *
   * @param work flops of each node, plus its overhead in flops
   * @param parent of each node, later than it; -1 for a root
   */
  public static TreeUnits cut(double[] work, int[] parent, int shares) {
    int count = work.length;
    double[] below = new double[count];
    double total = 0;
    for (int i = 0; i < count; i++) {
      total += work[i];
      below[i] += work[i];
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
      sum += small ? work[i] : 0;
      boolean top = parent[i] < 0 || below[parent[i]] > share;
      boolean nextSmall = i + 1 < count && below[i + 1] <= share;
      // Cut only where whole subtrees end; otherwise a unit would wait for one that runs at the
      // same time.
      if (!small || !nextSmall || top && sum >= share / 2) {
        start[++units] = i + 1;
        sum = 0;
      }
    }
    return new TreeUnits(Arrays.copyOf(start, units + 1), unitOf, parent);
  }

  /** Number of units. */
  public int count() {
    return start.length - 1;
  }

  /** First node of a unit; the number of nodes for unit = count. */
  public int start(int unit) {
    return start[unit];
  }

  /** Size units: number of nodes in other units whose parent is in the unit. */
  public int[] childrenOutside() {
    int[] pending = new int[count()];
    for (int i = 0; i < parent.length; i++) {
      if (leaves(i)) {
        pending[unitOf[parent[i]]]++;
      }
    }
    return pending;
  }

  /** Whether a node has its parent in another unit. */
  boolean leaves(int node) {
    return parent[node] >= 0 && unitOf[parent[node]] != unitOf[node];
  }

  /** The parent of a node; -1 for a root. */
  public int parent(int node) {
    return parent[node];
  }

  /** The unit of a node. */
  public int unitOf(int node) {
    return unitOf[node];
  }
}
