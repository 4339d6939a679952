/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cpu;

import io.sparqr.numeric.assembly.RowsByFront;
import io.sparqr.symbolic.GramTree;
import io.sparqr.symbolic.GramWork;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.Arrays;
import java.util.stream.IntStream;

/** The fronts of a task that are factored together by their Gram matrix, by index in the task. */
final class GramGroups {

  private final int[] root;
  private final double[] cost;

  /** By root: bytes of its group. */
  private final long[] bytes;

  /** By root: the first front of its group. */
  private final int[] first;

  /** Of a task in which no front is. */
  GramGroups(SymbolicAnalysis analysis, int[] fronts) {
    root = new int[fronts.length];
    Arrays.fill(root, -1);
    cost = new double[fronts.length];
    first = new int[fronts.length];
    bytes = new long[fronts.length];
    Arrays.setAll(cost, i -> analysis.reflectorFlops(fronts[i]));
  }

  /**
   * Chooses.
   *
   * @param fronts of the task, ascending
   * @param parent by index: that of the parent; negative: it is outside
   * @param rows of the task
   * @param inputs by index: cost of the blocks that come from outside
   */
  GramGroups(
      SymbolicAnalysis analysis,
      int[] fronts,
      int[] parent,
      RowsByFront rows,
      double[] inputs,
      int rhs,
      GramRule rule) {
    this(analysis, fronts);
    double[] flops = cost.clone();
    double[] own = inputs.clone();
    for (int i = 0; i < fronts.length; i++) {
      int f = fronts[i];
      double count = Math.max(1, rows.count(f));
      double length = rows.entries(f) / count - rhs;
      own[i] += rows.count(f) * GramWork.piece(1, length, rhs);
    }
    long most = analysis.data().counts().gramBytes();
    var tree = new GramTree(new Sizes(analysis, fronts, parent), flops, own, rhs, most);
    boolean[] taken = new boolean[fronts.length];
    for (int i = fronts.length - 1; i >= 0; i--) {
      taken[i] = rule.takes(tree, i);
      if (taken[i]) {
        int above = parent[i];
        boolean joins = above >= 0 && taken[above] && !(tree.isGram(above) && tree.isRoot(i));
        root[i] = joins ? root[above] : i;
        first[root[i]] = i;
        bytes[i] = isRoot(i) ? tree.bytes(i) : 0;
        cost[i] = tree.cost(i);
      }
    }
  }

  private record Sizes(SymbolicAnalysis analysis, int[] fronts, int[] parents)
      implements GramTree.Fronts {

    @Override
    public int count() {
      return fronts.length;
    }

    @Override
    public int parent(int i) {
      return Math.max(-1, parents[i]);
    }

    @Override
    public int pivots(int i) {
      return analysis.fp(fronts[i]);
    }

    @Override
    public int tail(int i) {
      return analysis.cn(fronts[i]);
    }

    @Override
    public double block(int i) {
      return analysis.cm(fronts[i]);
    }
  }

  /** Whether a front is in a group. */
  boolean has(int index) {
    return root[index] >= 0;
  }

  /** Whether a front is the root of its group, the last of its fronts. */
  boolean isRoot(int index) {
    return root[index] == index;
  }

  /** The fronts of a root's group, ascending. */
  int[] members(int index) {
    return IntStream.rangeClosed(first[index], index).filter(i -> root[i] == index).toArray();
  }

  /** Bytes, about, of the group of a root; 0 for other fronts. */
  long bytes(int index) {
    return bytes[index];
  }

  /** Flops of a front, in those of reflectors that take as long. */
  double cost(int index) {
    return cost[index];
  }
}
