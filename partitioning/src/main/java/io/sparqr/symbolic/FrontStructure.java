/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import io.sparqr.threads.ParallelLoop;
import java.util.Arrays;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * The non-pivot columns of every front and the flops of its staircase factorization.
 *
 * <p>Column x is in the tail of front f if a row whose leftmost column lies in f's subtree has an
 * entry in x and the owner of x is an ancestor of f. For each x, in ascending order, the row
 * subtrees are climbed from the leftmost columns to the owner of x, so that every tail is ascending
 * without a sort (Liu 1986, row subtrees; {@link Walk}). O(nnz(A) + size of all tails).
 */
final class FrontStructure {

  /** Columns of fronts per piece of parallel work. */
  private static final int PIECE = 1 << 16;

  /** Size nf+1; where the tail of each front begins in {@link #tailColumns}. */
  final int[] tailStart;

  /** Size tailStart[nf]; places, ascending in each front. */
  final int[] tailColumns;

  /** Size nf; the floating-point operations of each front. */
  final double[] flops;

  /**
   * Tails and flops.
   *
   * @param leftmostCount size n2, by place
   */
  FrontStructure(
      StarGraph graph, ColumnEliminationTree tree, FrontTree fronts, long[] leftmostCount) {
    int nf = fronts.count;
    long entries = 0;
    for (int f = 0; f < nf; f++) {
      entries += fronts.cn[f];
    }
    if (entries > Integer.MAX_VALUE - 8) {
      throw new io.sparqr.error.IndexOverflowException(
          "the fronts' column lists have " + entries + " entries, an array's limit is 2^31",
          "tailColumns",
          entries);
    }
    tailStart = new int[nf + 1];
    for (int f = 0; f < nf; f++) {
      tailStart[f + 1] = tailStart[f] + fronts.cn[f];
    }
    tailColumns = new int[tailStart[nf]];
    walk(graph, tree, fronts);
    flops = new double[nf];
    boolean[] all = new boolean[nf];
    Arrays.fill(all, true);
    countFlops(fronts, leftmostCount, all);
  }

  /**
   * The structure after groups of fronts were merged ({@link GramMerge}), from that before: a group
   * has the tail of its topmost front, and a front with the pivots and the children's blocks of
   * before keeps its flops. O(n + the tails that are left), and the flops of the others.
   *
   * @param before the structure of {@code old}
   * @param fronts its fronts, each as it is or merged into an ancestor
   * @param leftmostCount size n2, by place of {@code fronts}
   */
  FrontStructure(FrontStructure before, FrontTree old, FrontTree fronts, long[] leftmostCount) {
    int nf = fronts.count;
    int n = leftmostCount.length;
    int[] moved = new int[n];
    for (int j = 0; j < n; j++) {
      moved[old.place[j]] = fronts.place[j];
    }
    // A group's topmost front is its last one.
    int[] top = new int[nf];
    for (int f = 0; f < old.count; f++) {
      top[fronts.frontOfPlace[moved[old.pivotStart[f]]]] = f;
    }
    tailStart = new int[nf + 1];
    boolean[] changed = new boolean[nf];
    for (int f = 0; f < nf; f++) {
      tailStart[f + 1] = tailStart[f] + fronts.cn[f];
      int g = top[f];
      changed[f] |= fronts.pivots(f) != old.pivots(g);
      if (fronts.parent[f] >= 0) {
        changed[fronts.parent[f]] |= fronts.cm[f] != old.cm[g];
      }
    }
    tailColumns = new int[tailStart[nf]];
    flops = new double[nf];
    ParallelLoop.ranges(
        nf,
        (from, to) -> {
          for (int f = from; f < to; f++) {
            // Columns of a tail lie on one path to the root, so that they ascend as before.
            int was = before.tailStart[top[f]] - tailStart[f];
            for (int i = tailStart[f]; i < tailStart[f + 1]; i++) {
              tailColumns[i] = moved[before.tailColumns[was + i]];
            }
            flops[f] = before.flops[top[f]];
          }
        });
    countFlops(fronts, leftmostCount, changed);
  }

  /** Fills the tails: subtrees in parallel, then what the columns of the top add. */
  private void walk(StarGraph graph, ColumnEliminationTree tree, FrontTree fronts) {
    int nf = fronts.count;
    int n = graph.n;
    // By label, which saves two look-ups per edge.
    int[] frontOfLabel = new int[n];
    int[] labelOfPlace = new int[n];
    int[] work = new int[nf + 1];
    for (int f = 0; f <= nf; f++) {
      work[f] = (int) Math.min((long) fronts.pivotStart[f] + tailStart[f], Integer.MAX_VALUE);
    }
    Subtrees subtrees = new Subtrees(fronts.parent, work);
    int pieces = 1 + n / PIECE;
    ParallelLoop.onAll(
        pieces,
        p -> {
          for (int j = (int) ((long) n * p / pieces); j < (long) n * (p + 1) / pieces; j++) {
            int place = fronts.place[tree.post[j]];
            frontOfLabel[j] = fronts.frontOfPlace[place];
            labelOfPlace[place] = j;
          }
        });
    new Walk(graph, fronts, subtrees, frontOfLabel, labelOfPlace, tailStart, tailColumns).run();
  }

  /**
   * The flops of fronts; ranges of fronts of about equal work in parallel.
   *
   * @param wanted size nf; for which
   */
  private void countFlops(FrontTree fronts, long[] leftmostCount, boolean[] wanted) {
    int nf = fronts.count;
    // lastChild and previousSibling hold front + 1; 0 ends a list.
    int[] lastChild = new int[nf];
    int[] previousSibling = new int[nf];
    for (int f = 0; f < nf; f++) {
      if (fronts.parent[f] >= 0) {
        previousSibling[f] = lastChild[fronts.parent[f]];
        lastChild[fronts.parent[f]] = f + 1;
      }
    }
    int pieces = (int) (1 + ((long) fronts.pivotStart[nf] + tailStart[nf]) / PIECE);
    // A front writes the places that it reads, so that threads may pass their arrays on as they are
    var idle = new ConcurrentLinkedQueue<int[]>();
    ParallelLoop.onAll(
        pieces,
        p -> {
          int[] some = idle.poll();
          int[] local = some == null ? new int[leftmostCount.length] : some;
          int to = firstFront(fronts, p + 1, pieces);
          int from = firstFront(fronts, p, pieces);
          countFlops(fronts, leftmostCount, wanted, lastChild, previousSibling, local, from, to);
          idle.add(local);
        });
  }

  /** The first front of a piece: pieces have about the same number of columns. */
  private int firstFront(FrontTree fronts, int piece, int pieces) {
    int nf = fronts.count;
    long columns = (long) fronts.pivotStart[nf] + tailStart[nf];
    long wanted = columns * piece / pieces;
    int low = 0;
    int high = nf;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if ((long) fronts.pivotStart[middle] + tailStart[middle] < wanted) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return piece == pieces ? nf : low;
  }

  private void countFlops(
      FrontTree fronts,
      long[] leftmostCount,
      boolean[] wanted,
      int[] lastChild,
      int[] previousSibling,
      int[] local,
      int from,
      int to) {
    long[] stair = new long[64];
    for (int f = from; f < to; f++) {
      if (!wanted[f]) {
        continue;
      }
      int first = fronts.pivotStart[f];
      int fp = fronts.pivotStart[f + 1] - first;
      int fn = fp + fronts.cn[f];
      int tail = tailStart[f];
      stair = stair.length < fn ? new long[Math.max(fn, 2 * stair.length)] : stair;
      for (int k = 0; k < fp; k++) {
        local[first + k] = k;
        stair[k] = leftmostCount[first + k];
      }
      for (int k = fp; k < fn; k++) {
        local[tailColumns[tail + k - fp]] = k;
        stair[k] = 0;
      }
      for (int c = lastChild[f] - 1; c >= 0; c = previousSibling[c] - 1) {
        int start = tailStart[c];
        for (int i = 0; i < fronts.cm[c]; i++) {
          stair[local[tailColumns[start + i]]]++;
        }
      }
      for (int k = 1; k < fn; k++) {
        stair[k] += stair[k - 1];
      }
      flops[f] = Staircase.flops(stair, fn, fronts.fm[f]);
    }
  }
}
