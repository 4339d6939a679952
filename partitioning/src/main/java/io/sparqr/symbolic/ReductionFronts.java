/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import io.sparqr.sparse.CompactLongs;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Puts fronts without pivots between a front and its many children: each takes the contribution
 * blocks of some neighbouring children and passes on their triangle, and if too many triangles
 * remain, further fronts combine these: the tree of TSQR (Demmel, Grigori, Hoemmen, Langou 2012) as
 * part of the assembly tree. Blocks then wait only until their group is complete, no front gets
 * more rows from its children than {@link Reduction} allows, and the cut of the tree distributes
 * the reductions like any other fronts. The elimination and the pattern of R do not change.
 *
 * <p>A group follows its last child in the postorder; its columns are those of its children's
 * blocks. A front's own rows of A stay with it.
 */
final class ReductionFronts {

  private final SymbolicAnalysis.Data d;
  private final Reduction rule;
  private final int nf;

  /** By node: the given fronts, then the inserted ones. */
  private int[] parent;

  private long[] fm;
  private long[] cm;
  private double[] flops;

  /** Columns of the inserted nodes, starting with node nf. */
  private final List<int[]> columns = new ArrayList<>();

  /** The given front that each inserted node follows, ascending. */
  private final List<Integer> behind = new ArrayList<>();

  /** By position: the last node that marked it, and its place there. */
  private final int[] mark;

  private final int[] local;

  private ReductionFronts(SymbolicAnalysis.Data d, Reduction rule) {
    this.d = d;
    this.rule = rule;
    nf = d.parent().length;
    parent = d.parent().clone();
    fm = new long[nf];
    cm = new long[nf];
    flops = new double[nf];
    for (int f = 0; f < nf; f++) {
      fm[f] = d.fm().get(f);
      cm[f] = given(f);
      flops[f] = SymbolicAnalysis.flops(d.frontFlops().get(f));
    }
    int n = d.permutation().size();
    mark = new int[n];
    local = new int[n];
  }

  /** Rows of a given front's block before insertions. */
  private long given(int f) {
    int fp = d.firstPivot()[f + 1] - d.firstPivot()[f];
    return Math.min(Math.max(d.fm().get(f) - fp, 0), cn(f));
  }

  /** Whether the rule can apply to any front; allocates nothing. */
  private static boolean mayApply(SymbolicAnalysis.Data d, Reduction rule) {
    for (int f = 0; f < d.parent().length; f++) {
      long rows = d.fm().get(f) - own(d, f);
      long fp = d.firstPivot()[f + 1] - d.firstPivot()[f];
      long fn = fp + d.tailStart()[f + 1] - d.tailStart()[f];
      if (rows > FrontMemory.multiply(rule.tall(), Math.max(1, fn))) {
        return true;
      }
    }
    return false;
  }

  /** Rows of A of a given front. */
  private static long own(SymbolicAnalysis.Data d, int f) {
    return d.leftmostCount().sum(d.firstPivot()[f], d.firstPivot()[f + 1]);
  }

  /** The analysis with its reductions; the same object where there are none. O(tails). */
  static SymbolicAnalysis.Data insert(SymbolicAnalysis.Data d, Reduction rule) {
    if (!mayApply(d, rule)) {
      return d;
    }
    var fronts = new ReductionFronts(d, rule);
    fronts.run();
    return fronts.columns.isEmpty() ? d : fronts.result();
  }

  private void run() {
    int[] childStart = new int[nf + 1];
    for (int p : d.parent()) {
      if (p >= 0) {
        childStart[p + 1]++;
      }
    }
    for (int f = 0; f < nf; f++) {
      childStart[f + 1] += childStart[f];
    }
    int[] child = new int[childStart[nf]];
    int[] next = Arrays.copyOf(childStart, nf);
    for (int f = 0; f < nf; f++) {
      if (d.parent()[f] >= 0) {
        child[next[d.parent()[f]]++] = f;
      }
    }
    for (int f = 0; f < nf; f++) {
      size(f, Arrays.copyOfRange(child, childStart[f], childStart[f + 1]));
    }
  }

  /** Computes the sizes of front f from those of its children. */
  private void size(int f, int[] children) {
    boolean changed = false;
    long rows = 0;
    long bytes = 0;
    for (int c : children) {
      changed |= cm[c] != given(c);
      rows += cm[c];
      bytes = FrontMemory.add(bytes, FrontMemory.contributionBytes(cm[c], cn(c), 0));
    }
    int fp = d.firstPivot()[f + 1] - d.firstPivot()[f];
    int fn = fp + cn(f);
    long own = own(d, f);
    int[] nodes = children;
    if (rule.applies(rows, own + rows, fn, bytes)) {
      int[] mine = columns(f);
      long before;
      do {
        before = rows;
        nodes = grouped(f, nodes, mine);
        rows = 0;
        for (int c : nodes) {
          rows += cm[c];
        }
      } while (rows > FrontMemory.multiply(rule.tall(), fn) && rows < before);
      changed |= nodes.length != children.length;
    }
    if (changed) {
      fm[f] = own + rows;
      cm[f] = Math.min(Math.max(fm[f] - fp, 0), cn(f));
      long[] stair = new long[fn];
      for (int k = 0; k < fp; k++) {
        stair[k] = d.leftmostCount().get(d.firstPivot()[f] + k);
      }
      flops[f] = flops(columns(f), stair, nodes, fm[f]);
    }
  }

  /** Groups neighbours until they have enough rows; the remaining nodes stay ungrouped. */
  private int[] grouped(int f, int[] nodes, int[] mine) {
    long enough = rule.group(mine.length);
    int[] next = new int[nodes.length];
    int count = 0;
    int from = 0;
    long rows = 0;
    for (int k = 0; k < nodes.length; k++) {
      rows += cm[nodes[k]];
      if (rows >= enough) {
        int[] group = Arrays.copyOfRange(nodes, from, k + 1);
        next[count++] = group.length == 1 ? nodes[k] : put(f, group, mine);
        from = k + 1;
        rows = 0;
      }
    }
    for (int k = from; k < nodes.length; k++) {
      next[count++] = nodes[k];
    }
    return Arrays.copyOf(next, count);
  }

  /** A new node that takes the group's blocks. */
  private int put(int f, int[] group, int[] mine) {
    int node = nf + columns.size();
    int stamp = node + 1;
    long rows = 0;
    for (int c : group) {
      rows += cm[c];
      int[] tail = tail(c);
      for (int p : tail) {
        mark[p] = stamp;
      }
    }
    int[] union = new int[mine.length];
    int count = 0;
    for (int p : mine) {
      if (mark[p] == stamp) {
        union[count++] = p;
      }
    }
    union = Arrays.copyOf(union, count);
    if (node == parent.length) {
      int length = node + node / 2 + 16;
      parent = Arrays.copyOf(parent, length);
      fm = Arrays.copyOf(fm, length);
      cm = Arrays.copyOf(cm, length);
      flops = Arrays.copyOf(flops, length);
    }
    parent[node] = f;
    fm[node] = rows;
    cm[node] = Math.min(rows, count);
    flops[node] = flops(union, new long[count], group, rows);
    columns.add(union);
    int last = group[group.length - 1];
    behind.add(last < nf ? last : behind.get(last - nf));
    for (int c : group) {
      parent[c] = node;
    }
    return node;
  }

  /** Flops of a front of these columns with the blocks of these nodes added to its staircase. */
  private double flops(int[] mine, long[] stair, int[] nodes, long rows) {
    for (int k = 0; k < mine.length; k++) {
      local[mine[k]] = k;
    }
    for (int c : nodes) {
      int[] tail = tail(c);
      for (int i = 0; i < cm[c]; i++) {
        stair[local[tail[i]]]++;
      }
    }
    for (int k = 1; k < stair.length; k++) {
      stair[k] += stair[k - 1];
    }
    return Staircase.flops(stair, mine.length, rows);
  }

  private int cn(int node) {
    return node < nf
        ? d.tailStart()[node + 1] - d.tailStart()[node]
        : columns.get(node - nf).length;
  }

  /** Columns of a node's block. */
  private int[] tail(int node) {
    return node < nf
        ? Arrays.copyOfRange(d.tailColumns(), d.tailStart()[node], d.tailStart()[node + 1])
        : columns.get(node - nf);
  }

  /** All columns of a given front, ascending. */
  private int[] columns(int f) {
    int first = d.firstPivot()[f];
    int fp = d.firstPivot()[f + 1] - first;
    int[] all = new int[fp + cn(f)];
    for (int k = 0; k < fp; k++) {
      all[k] = first + k;
    }
    System.arraycopy(d.tailColumns(), d.tailStart()[f], all, fp, all.length - fp);
    return all;
  }

  private SymbolicAnalysis.Data result() {
    int put = columns.size();
    int all = nf + put;
    // New nodes after each given front, in order of creation.
    int[] start = new int[nf + 1];
    for (int b : behind) {
      start[b + 1]++;
    }
    for (int f = 0; f < nf; f++) {
      start[f + 1] += start[f];
    }
    int[] node = new int[put];
    int[] next = Arrays.copyOf(start, nf);
    for (int k = 0; k < put; k++) {
      node[next[behind.get(k)]++] = nf + k;
    }
    int[] order = new int[all];
    int[] number = new int[all];
    int at = 0;
    long tailLength = 0;
    for (int f = 0; f < nf; f++) {
      order[at] = f;
      number[f] = at++;
      tailLength += cn(f);
      for (int k = start[f]; k < start[f + 1]; k++) {
        order[at] = node[k];
        number[node[k]] = at++;
        tailLength += cn(node[k]);
      }
    }
    if (tailLength > Integer.MAX_VALUE - 8) {
      throw new io.sparqr.error.IndexOverflowException(
          "the fronts' column lists have " + tailLength + " entries, an array's limit is 2^31",
          "tailColumns",
          tailLength);
    }
    return renumbered(order, number, (int) tailLength);
  }

  private SymbolicAnalysis.Data renumbered(int[] order, int[] number, int tailLength) {
    int all = order.length;
    int[] firstPivot = new int[all + 1];
    int[] above = new int[all];
    int[] tailStart = new int[all + 1];
    int[] tails = new int[tailLength];
    long[] rows = new long[all];
    double[] work = new double[all];
    for (int k = 0; k < all; k++) {
      int v = order[k];
      firstPivot[k] = v < nf ? d.firstPivot()[v] : d.firstPivot()[behind.get(v - nf) + 1];
      above[k] = parent[v] < 0 ? -1 : number[parent[v]];
      int[] tail = tail(v);
      System.arraycopy(tail, 0, tails, tailStart[k], tail.length);
      tailStart[k + 1] = tailStart[k] + tail.length;
      rows[k] = fm[v];
      work[k] = flops[v];
    }
    firstPivot[all] = d.firstPivot()[nf];
    return new SymbolicAnalysis.Data(
        d.input(),
        d.order(),
        new SymbolicAnalysis.Tree(firstPivot, above, tailStart, tails),
        new SymbolicAnalysis.Counts(
            d.counts().leftmostCount(),
            CompactLongs.of(rows),
            CompactLongs.of(all, k -> SymbolicAnalysis.packed(work[k]))),
        d.seconds());
  }
}
