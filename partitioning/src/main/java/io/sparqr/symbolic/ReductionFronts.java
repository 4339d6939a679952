/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import io.sparqr.sparse.CompactLongs;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Puts fronts without pivots between a front and its children: each takes the contribution blocks
 * of some neighbouring children and passes on their triangle: the tree of TSQR (Demmel, Grigori,
 * Hoemmen, Langou 2012) as part of the assembly tree. The cut of the tree distributes these fronts
 * like any others. The elimination and the pattern of R do not change.
 *
 * <ul>
 *   <li>{@link #insert}: for a front with very many children, in as many steps as it takes. Blocks
 *       then wait only until their group is complete, and no front gets more rows from its children
 *       than {@link Reduction} allows.
 *   <li>{@link #spread}: for a tall front on the longest path of the tree. The blocks that do not
 *       come along that path are reduced while the path is still being factored, by another worker.
 * </ul>
 *
 * <p>A group follows its last child in the postorder; its columns are those of its children's
 * blocks. A front's own rows of A stay with it.
 */
final class ReductionFronts {

  private final SymbolicAnalysis.Data d;
  private final Grouping rule;
  private final int nf;

  /** By node: the given fronts, then the inserted ones. */
  private int[] parent;

  private long[] fm;
  private long[] cm;
  private double[] flops;

  /** Flops of the heaviest path from a leaf up to each node, the node included. */
  private double[] path;

  /** Columns of the inserted nodes, starting with node nf. */
  private final List<int[]> columns = new ArrayList<>();

  /** The given front that each inserted node follows, ascending. */
  private final List<Integer> behind = new ArrayList<>();

  /** By position: the last union that marked it, and the place in a front's columns. */
  private final int[] mark;

  private int stamp;

  private final int[] local;

  /** The choice of the groups. */
  private interface Grouping {

    /**
     * Puts nodes above groups of a front's children.
     *
     * @param f the front
     * @param nodes its children
     * @return its children afterwards, with the groups in the places of their members
     */
    int[] grouped(ReductionFronts fronts, int f, int[] nodes);
  }

  private ReductionFronts(SymbolicAnalysis.Data d, Grouping rule) {
    this.d = d;
    this.rule = rule;
    nf = d.parent().length;
    parent = d.parent().clone();
    fm = new long[nf];
    cm = new long[nf];
    flops = new double[nf];
    path = new double[nf];
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
    return inserted(d, (fronts, f, nodes) -> fronts.reduced(f, nodes, rule)).orElse(d);
  }

  /**
   * The analysis with tall fronts spread; nothing where that relieves none, and so for an analysis
   * that this has made. O(tails of the large fronts and their children).
   */
  static Optional<SymbolicAnalysis.Data> spread(SymbolicAnalysis.Data d, Spread rule) {
    double all = 0;
    double most = 0;
    for (int f = 0; f < d.parent().length; f++) {
      double flops = SymbolicAnalysis.flops(d.frontFlops().get(f));
      all += flops;
      most = Math.max(most, flops);
    }
    double least = rule.leastFlops(all);
    return most < least
        ? Optional.empty()
        : inserted(d, (fronts, f, nodes) -> fronts.spread(f, nodes, rule, least));
  }

  private static Optional<SymbolicAnalysis.Data> inserted(SymbolicAnalysis.Data d, Grouping rule) {
    var fronts = new ReductionFronts(d, rule);
    fronts.run();
    return fronts.columns.isEmpty() ? Optional.empty() : Optional.of(fronts.result());
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
    for (int c : children) {
      changed |= cm[c] != given(c);
    }
    int fp = d.firstPivot()[f + 1] - d.firstPivot()[f];
    int[] nodes = rule.grouped(this, f, children);
    changed |= nodes.length != children.length;
    if (changed) {
      fm[f] = own(d, f) + rows(nodes);
      cm[f] = Math.min(Math.max(fm[f] - fp, 0), cn(f));
      flops[f] = flopsOver(f, nodes);
    }
    path[f] = flops[f] + longest(nodes);
  }

  private long rows(int[] nodes) {
    long rows = 0;
    for (int c : nodes) {
      rows += cm[c];
    }
    return rows;
  }

  private double longest(int[] nodes) {
    double most = 0;
    for (int c : nodes) {
      most = Math.max(most, path[c]);
    }
    return most;
  }

  /** Flops of a given front above these nodes. */
  private double flopsOver(int f, int[] nodes) {
    int fp = d.firstPivot()[f + 1] - d.firstPivot()[f];
    long[] stair = new long[fp + cn(f)];
    for (int k = 0; k < fp; k++) {
      stair[k] = d.leftmostCount().get(d.firstPivot()[f] + k);
    }
    return flops(columns(f), stair, nodes, own(d, f) + rows(nodes));
  }

  /** Reduces the blocks of very many children, step by step. */
  private int[] reduced(int f, int[] children, Reduction rule) {
    int fn = d.firstPivot()[f + 1] - d.firstPivot()[f] + cn(f);
    long rows = rows(children);
    long bytes = 0;
    for (int c : children) {
      bytes = FrontMemory.add(bytes, FrontMemory.contributionBytes(cm[c], cn(c), 0));
    }
    int[] nodes = children;
    if (rule.applies(rows, own(d, f) + rows, fn, bytes)) {
      int[] mine = columns(f);
      long before;
      do {
        before = rows;
        nodes = grouped(f, nodes, mine, rule);
        rows = rows(nodes);
      } while (rows > FrontMemory.multiply(rule.tall(), fn) && rows < before);
    }
    return nodes;
  }

  /**
   * Puts a front above those children of a large front that come before the heaviest path in the
   * postorder, and one above those that come after it, where that relieves the front.
   */
  private int[] spread(int f, int[] children, Spread rule, double least) {
    boolean given = hasPivots(f) && Arrays.stream(children).allMatch(this::hasPivots);
    if (flops[f] < least || children.length < 3 || !given) {
      return children;
    }
    int heaviest = 0;
    for (int k = 1; k < children.length; k++) {
      heaviest = path[children[k]] > path[children[heaviest]] ? k : heaviest;
    }
    int[] nodes = children;
    int at = heaviest;
    if (relieves(f, nodes, 0, at, rule, least)) {
      nodes = together(f, nodes, 0, at);
      at = 1;
    }
    return relieves(f, nodes, at + 1, nodes.length, rule, least)
        ? together(f, nodes, at + 1, nodes.length)
        : nodes;
  }

  private boolean hasPivots(int f) {
    return d.firstPivot()[f + 1] > d.firstPivot()[f];
  }

  private boolean relieves(int f, int[] nodes, int from, int to, Spread rule, double least) {
    if (to - from < 2) {
      return false;
    }
    int[] group = Arrays.copyOfRange(nodes, from, to);
    int[] union = union(group, columns(f));
    double own = flops(union, new long[union.length], group, rows(group));
    if (own < least) {
      return false;
    }
    double before = flopsOver(f, nodes);
    int first = columns.size();
    int[] trial = together(f, nodes, from, to);
    double after = flopsOver(f, trial);
    takeBack(group, first, f);
    return rule.relieves(before, after, own);
  }

  /** The nodes with those in [from, to) under a new one. */
  private int[] together(int f, int[] nodes, int from, int to) {
    int[] next = new int[nodes.length - (to - from) + 1];
    System.arraycopy(nodes, 0, next, 0, from);
    next[from] = put(f, Arrays.copyOfRange(nodes, from, to), columns(f));
    System.arraycopy(nodes, to, next, from + 1, nodes.length - to);
    return next;
  }

  /** Removes the node that was put last. */
  private void takeBack(int[] group, int last, int f) {
    columns.remove(last);
    behind.remove(last);
    for (int c : group) {
      parent[c] = f;
    }
  }

  /** Groups neighbours until they have enough rows; the remaining nodes stay ungrouped. */
  private int[] grouped(int f, int[] nodes, int[] mine, Reduction rule) {
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
    long rows = rows(group);
    int[] union = union(group, mine);
    if (node == parent.length) {
      int length = node + node / 2 + 16;
      parent = Arrays.copyOf(parent, length);
      fm = Arrays.copyOf(fm, length);
      cm = Arrays.copyOf(cm, length);
      flops = Arrays.copyOf(flops, length);
      path = Arrays.copyOf(path, length);
    }
    parent[node] = f;
    fm[node] = rows;
    cm[node] = Math.min(rows, union.length);
    flops[node] = flops(union, new long[union.length], group, rows);
    path[node] = flops[node] + longest(group);
    columns.add(union);
    int last = group[group.length - 1];
    behind.add(last < nf ? last : behind.get(last - nf));
    for (int c : group) {
      parent[c] = node;
    }
    return node;
  }

  /** Those of the front's columns that occur in any of the blocks. */
  private int[] union(int[] group, int[] mine) {
    stamp++;
    for (int c : group) {
      for (int p : tail(c)) {
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
    return Arrays.copyOf(union, count);
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
            CompactLongs.of(all, k -> SymbolicAnalysis.packed(work[k])),
            d.counts().gramBytes()),
        d.seconds());
  }
}
