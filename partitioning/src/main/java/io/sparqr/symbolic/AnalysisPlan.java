/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import io.sparqr.sparse.Permutation;
import io.sparqr.sparse.SparsityPattern;
import io.sparqr.threads.ParallelLoop;
import org.jspecify.annotations.Nullable;

/**
 * The analysis of one pattern (without singletons) under one column order, from star graph to
 * flops. {@link SymbolicAnalyzer} builds its result from it, and comparisons of orderings use its
 * flops.
 */
final class AnalysisPlan {

  final Permutation order;
  final ColumnEliminationTree tree;
  final FrontTree fronts;
  final FrontStructure structure;

  /** Size n2, by place. */
  final long[] leftmostCount;

  /** Flops of reflectors that take as long as the factorization, each front the cheaper way. */
  final double work;

  /** {@link SymbolicOptions#gramBytes}. */
  final long gramBytes;

  /** The part of it in one front taken by its Gram matrix, a full triangle. */
  final double gramShare;

  /** Analyzes. Near-linear. */
  AnalysisPlan(SparsityPattern pattern, Permutation order, SymbolicOptions options, PhaseTimes t) {
    this(pattern, order, null, mean(pattern.nonzeros(), pattern.rows()), options, t);
  }

  /** Mean entries of a row. */
  static double mean(long entries, long rows) {
    return (double) entries / Math.max(1, rows);
  }

  /**
   * Analyzes the cliques of a pattern.
   *
   * @param counts size n2, by place in the order: rows that begin at a place; default: counted from
   *     the pattern
   * @param rowLength mean entries of a row
   */
  AnalysisPlan(
      SparsityPattern pattern,
      Permutation order,
      long @Nullable [] counts,
      double rowLength,
      SymbolicOptions options,
      PhaseTimes t) {
    this.order = order;
    this.gramBytes = options.gramBytes();
    t.start();
    StarGraph graph = new StarGraph(pattern, order);
    if (counts != null) {
      graph.leftmostCount = counts;
    }
    t.end("star graph");
    tree = new ColumnEliminationTree(graph);
    t.end("elimination tree");
    long[] byPost = new long[pattern.columns()];
    Supernodes groups = groups(graph, byPost, options, t);
    FrontTree made = new FrontTree(groups, byPost, options.rhs());
    long[] leftmost = byPlace(byPost, made);
    t.end("sizes and postorder");
    FrontStructure found = new FrontStructure(graph, tree, made, leftmost);
    t.end("structure and flops");
    if (options.gram()) {
      GramMerge merge = new GramMerge(made, found.flops, rowLength, options.rhs(), gramBytes);
      GramTree chosen = merge.tree();
      Supernodes merged = merge.groups(groups);
      if (merged != groups) {
        FrontTree before = made;
        made = new FrontTree(merged, byPost, options.rhs());
        leftmost = byPlace(byPost, made);
        found = new FrontStructure(found, before, made, leftmost);
        chosen = GramMerge.tree(made, found.flops, rowLength, options.rhs(), gramBytes);
      }
      work = chosen.work();
      gramShare = work == 0 ? 0 : largest(chosen, made.count) / work;
      t.end("fronts by their Gram matrix");
    } else {
      work = sum(found.flops);
      gramShare = 0;
    }
    fronts = made;
    leftmostCount = leftmost;
    structure = found;
  }

  /** A separate method, so that its intermediate arrays become garbage on return. */
  private Supernodes groups(StarGraph graph, long[] byPost, SymbolicOptions options, PhaseTimes t) {
    int[] counts = ColumnCounts.of(graph, tree);
    t.end("counts");
    long[] byLabel = graph.leftmostCount;
    ParallelLoop.ranges(
        byPost.length,
        (from, to) -> {
          for (int p = from; p < to; p++) {
            byPost[p] = byLabel[tree.label[p]];
          }
        });
    graph.keepLow();
    Supernodes groups = new Supernodes(tree.parent, counts, byPost, options.amalgamation());
    t.end("supernodes");
    return groups;
  }

  private static long[] byPlace(long[] byPost, FrontTree fronts) {
    long[] count = new long[byPost.length];
    ParallelLoop.ranges(
        count.length,
        (from, to) -> {
          for (int p = from; p < to; p++) {
            count[fronts.place[p]] = byPost[p];
          }
        });
    return count;
  }

  /** The cost of the front with the most of those by their Gram matrix. */
  private static double largest(GramTree tree, int fronts) {
    double largest = 0;
    for (int f = 0; f < fronts; f++) {
      largest = tree.isGram(f) ? Math.max(largest, tree.cost(f)) : largest;
    }
    return largest;
  }

  private static double sum(double[] flops) {
    double sum = 0;
    for (double f : flops) {
      sum += f;
    }
    return sum;
  }

  /** Entries of R at full rank. */
  double entriesOfR() {
    double entries = 0;
    for (int f = 0; f < fronts.count; f++) {
      double pivots = (double) fronts.pivotStart[f + 1] - fronts.pivotStart[f];
      entries += pivots * (pivots + 1) / 2 + pivots * fronts.cn[f];
    }
    return entries;
  }

  /** Entries of R over those of a full triangle, from 0 to 1. */
  double fullness() {
    double n = fronts.place.length;
    return entriesOfR() / (n * (n + 1) / 2);
  }

  /** Rows and columns of the front with the most bytes; {@link FrontMemory#certainRows}. */
  long[] largestFront(Reduction reduction) {
    long[] largest = {0, 0};
    long most = -1;
    for (int f = 0; f < fronts.count; f++) {
      long fn = (long) fronts.pivotStart[f + 1] - fronts.pivotStart[f] + fronts.cn[f];
      long fm = FrontMemory.certainRows(fronts.fm[f], fn, reduction.tall());
      long bytes = FrontMemory.hostBytes(fm, fn, 0);
      if (bytes > most) {
        most = bytes;
        largest[0] = fm;
        largest[1] = fn;
      }
    }
    return largest;
  }

  /** Bytes of all fronts. */
  double frontBytes() {
    double sum = 0;
    for (int f = 0; f < fronts.count; f++) {
      long fn = (long) fronts.pivotStart[f + 1] - fronts.pivotStart[f] + fronts.cn[f];
      sum += FrontMemory.frontBytes(fronts.fm[f], fn, 0);
    }
    return sum;
  }

  /** Size n2; column of the pattern at each place of the final order. */
  int[] columnAtPlace() {
    int n = fronts.place.length;
    int[] column = new int[n];
    ParallelLoop.ranges(
        n,
        (from, to) -> {
          for (int p = from; p < to; p++) {
            column[fronts.place[p]] = order.original(tree.label[p]);
          }
        });
    return column;
  }
}
