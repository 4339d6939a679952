/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.threads;

import java.util.Arrays;

/**
 * A forest, its nodes in postorder, cut into runs of consecutive nodes that one thread works off:
 * whole small subtrees, bundled up to a share of the work, and each node above them by itself.
 * Units are in postorder: nodes of a unit have their children in it or in earlier ones, their
 * parents in it or in later ones.
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
   * Cuts for about {@code shares} units' worth of subtrees. O(nodes).
   *
   * @param work flops of each node, with what it costs beyond them
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
      // Cut only where whole subtrees end, or a unit would wait for one that runs beside it.
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

  /** First node of a unit; of the number of units: the number of nodes. */
  public int start(int unit) {
    return start[unit];
  }

  /** Size units: how many nodes outside have their parent in each unit. */
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
