/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.partition;

import io.sparqr.symbolic.FrontMemory;
import java.util.Arrays;

/**
 * The upper part of the assembly forest, not yet assigned to a level, with sums over its subtrees.
 * Layers of whole subtrees are cut off from below, so that the roots of the forest always remain.
 */
final class RemainingForest {

  private final TreeCost cost;
  private int[] alive;
  private final boolean[] here;

  /** Sums over the remaining part of each front's subtree. */
  final double[] flops;

  final double[] bytes;
  final double[] fronts;

  /**
   * Peak bytes while the remaining part of each front's subtree is factored in order, with all
   * blocks of children cut off earlier held from the start. Rows of A and Q'b, which a task holds
   * throughout, are counted in {@link #kept}.
   */
  final long[] peak;

  /** Bytes of rows of A, encoded and decoded, and of Q'b in each front's subtree. */
  final long[] kept;

  /** Longest path of fronts in the remaining part of each front's subtree. */
  final int[] height;

  private final long[] held;

  /** Starts with all fronts. */
  RemainingForest(TreeCost cost) {
    this.cost = cost;
    int nf = cost.fronts;
    alive = new int[nf];
    here = new boolean[nf];
    flops = new double[nf];
    bytes = new double[nf];
    fronts = new double[nf];
    peak = new long[nf];
    kept = new long[nf];
    height = new int[nf];
    held = new long[nf];
    for (int f = 0; f < nf; f++) {
      alive[f] = f;
      here[f] = true;
    }
    sum();
  }

  /** Bytes needed by a task that consists of the remaining part of f's subtree. */
  long need(int f) {
    return FrontMemory.add(peak[f], kept[f]);
  }

  boolean isEmpty() {
    return alive.length == 0;
  }

  /** Whether front f remains. */
  boolean contains(int f) {
    return here[f];
  }

  /** The remaining fronts, ascending; not to be written to. */
  int[] alive() {
    return alive;
  }

  /** Roots of the forest, ascending. */
  int[] roots() {
    return Arrays.stream(alive).filter(f -> cost.parent[f] < 0).toArray();
  }

  /** Length of the longest path of fronts. */
  int height() {
    int most = 0;
    for (int f : alive) {
      most = Math.max(most, height[f]);
    }
    return most;
  }

  /**
   * Cuts subtrees off.
   *
   * @param root roots of disjoint remaining subtrees
   * @return size nf; for a front cut off now, the index in {@code root} of its subtree, else -1
   */
  int[] cut(int[] root) {
    int[] subtree = new int[cost.fronts];
    Arrays.fill(subtree, -1);
    for (int i = 0; i < root.length; i++) {
      subtree[root[i]] = i;
    }
    int left = 0;
    for (int k = alive.length - 1; k >= 0; k--) {
      int f = alive[k];
      int p = cost.parent[f];
      if (subtree[f] < 0 && p >= 0) {
        subtree[f] = subtree[p];
      }
      here[f] = subtree[f] < 0;
      left += here[f] ? 1 : 0;
    }
    int[] next = new int[left];
    int at = 0;
    for (int f : alive) {
      if (here[f]) {
        next[at++] = f;
      }
    }
    alive = next;
    sum();
    return subtree;
  }

  private void sum() {
    long[] inputs = new long[cost.fronts];
    for (int f : alive) {
      flops[f] = cost.flops[f];
      bytes[f] = cost.frontBytes[f];
      fronts[f] = 1;
      height[f] = 1;
      peak[f] = 0;
      kept[f] = cost.keptBytes(f);
    }
    for (int f = 0; f < cost.fronts; f++) {
      int p = cost.parent[f];
      if (p >= 0 && here[p]) {
        inputs[p] = FrontMemory.add(inputs[p], here[f] ? inputs[f] : cost.blockBytes[f]);
      }
    }
    for (int f : alive) {
      held[f] = inputs[f];
    }
    for (int f : alive) {
      peak[f] = Math.max(peak[f], FrontMemory.add(held[f], cost.workBytes[f]));
      int p = cost.parent[f];
      if (p >= 0) {
        flops[p] += flops[f];
        bytes[p] += bytes[f];
        fronts[p] += fronts[f];
        kept[p] = FrontMemory.add(kept[p], kept[f]);
        height[p] = Math.max(height[p], height[f] + 1);
        peak[p] = Math.max(peak[p], FrontMemory.add(held[p] - inputs[f], peak[f]));
        held[p] = FrontMemory.add(held[p] - inputs[f], cost.blockBytes[f]);
      }
    }
  }
}
