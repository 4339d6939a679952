/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged.solve;

import io.sparqr.backend.schedule.FrontDescriptor;
import io.sparqr.backend.staged.layout.StageProgram;
import io.sparqr.threads.Parallel;
import java.util.Arrays;

/**
 * The solves with the packed rows of R of a stage that is a whole task, as {@code triangular.cuh}
 * defines them: the items of R'y = c from the leaves up and of R x = y from the roots down, and
 * where each front's column gets its children's updates from. An item waits only for items before
 * it. Depends on structure only; arrays are shared and must not be modified.
 *
 * <p>The task's pivots come first in a vector by column, then the columns outside of it. Their x is
 * given before R x = c is solved; R'y = c leaves the updates to them, summed, in the last places.
 *
 * @param forward items of R'y = c; empty if only R x = c is wanted
 * @param back items of R x = c
 * @param outDoubles size of the output buffer with the rows
 * @param storedRhs right-hand sides stored with them
 * @param terms the largest number of terms of an equation
 */
public record SolveLists(
    Columns columns,
    ItemList forward,
    ItemList back,
    Gather gather,
    long outDoubles,
    int storedRhs,
    int terms) {

  /**
   * The columns of a vector.
   *
   * @param count number of columns: pivots, then those outside
   * @param outside number of columns that are no pivots of the task
   * @param number columns of each front as numbers of the stage's columns
   */
  public record Columns(int count, int outside, int[] number) {

    /** Number of pivots, the first columns. */
    public int pivots() {
      return count - outside;
    }

    /** Places of all fronts' columns, those of the updates to columns outside the last ones. */
    public int places() {
      return number.length + outside;
    }
  }

  /**
   * What each place gets from the children's columns in R'y = c; empty if only R x = c is wanted.
   *
   * @param start size places + 1: a place's part of {@code from}; or empty
   * @param from places of the children's columns that are added to a place, in the children's order
   */
  public record Gather(int[] start, int[] from) {
    private static final Gather NONE = new Gather(new int[0], new int[0]);
  }

  /** Whether a stage's rows can be solved with: the items of either solve fit a buffer. */
  public static boolean possible(StageProgram program) {
    long forward = 0;
    long back = 0;
    for (int f = 0; f < program.fronts(); f++) {
      FrontDescriptor d = program.descriptor(f);
      forward += ForwardItems.count(d);
      back += BackItems.count(d);
    }
    return Math.max(forward, back) <= SolveItem.MOST;
  }

  /** For R x = c alone. O(items), by several threads. */
  public static SolveLists backOnly(StageProgram program, int threads) {
    var tree = SolveTree.of(program, false, threads);
    return of(tree, ItemList.empty(), Gather.NONE, 0);
  }

  /** For both solves. O(items + places), by several threads. */
  public static SolveLists both(StageProgram program, int threads) {
    var tree = SolveTree.of(program, true, threads);
    int[][] children = children(tree);
    int[] gather = new int[program.columns().number().length + program.outsideColumns() + 1];
    int fronts = tree.fronts().length;
    Parallel.loop(
        fronts,
        64,
        threads,
        (from, to, t) -> {
          for (int f = from; f < to; f++) {
            count(tree, f, children[f], gather);
          }
        });
    int longest = 0;
    for (int g : gather) {
      longest = Math.max(longest, g);
    }
    Arrays.parallelPrefix(gather, Integer::sum);
    int[] from = new int[gather[gather.length - 1]];
    Parallel.loop(
        fronts,
        64,
        threads,
        (first, to, t) -> {
          for (int f = first; f < to; f++) {
            fill(tree, f, children[f], gather, from);
          }
        });
    return of(tree, ForwardItems.of(tree), new Gather(gather, from), longest);
  }

  private static SolveLists of(SolveTree tree, ItemList forward, Gather gather, int longest) {
    StageProgram program = tree.program();
    int terms = 0;
    for (int f = 0; f < program.fronts(); f++) {
      FrontDescriptor d = tree.front(f);
      terms = Math.max(terms, Math.max(d.fn(), d.fp() + longest));
    }
    return new SolveLists(
        new Columns(
            program.columns().count(), program.outsideColumns(), program.columns().number()),
        forward,
        BackItems.of(tree),
        gather,
        program.outDoubles(),
        program.rhs(),
        terms);
  }

  /** The children of each front, ascending. */
  private static int[][] children(SolveTree tree) {
    int n = tree.fronts().length;
    int[] count = new int[n];
    for (int f = 0; f < n; f++) {
      if (tree.parent(f) >= 0) {
        count[tree.parent(f)]++;
      }
    }
    int[][] children = new int[n][];
    for (int f = 0; f < n; f++) {
      children[f] = new int[count[f]];
      count[f] = 0;
    }
    for (int f = 0; f < n; f++) {
      int p = tree.parent(f);
      if (p >= 0) {
        children[p][count[p]++] = f;
      }
    }
    return children;
  }

  /** Receives the place in front f of column k of a child's tail. */
  private interface Visitor {
    void visit(int place, int k);
  }

  /** Visits a child's tail columns in their parent; both ascend. */
  private static void match(SolveTree tree, int child, int f, Visitor visitor) {
    int[] number = tree.program().columns().number();
    FrontDescriptor d = tree.front(child);
    int tail = tree.start(child) + d.fp();
    int at = tree.start(f);
    int end = at + tree.front(f).fn();
    if (f == tree.outer()) {
      int pivots = tree.program().columns().count() - tree.front(f).fn();
      for (int k = 0; k < d.cn(); k++) {
        visitor.visit(at + number[tail + k] - pivots, tail + k);
      }
      return;
    }
    for (int k = 0; k < d.cn(); k++) {
      int step = 1;
      while (at + step < end && number[at + step] <= number[tail + k]) {
        step *= 2;
      }
      int found = Arrays.binarySearch(number, at, Math.min(end, at + step), number[tail + k]);
      if (found < 0) {
        throw new IllegalStateException(
            "front " + f + " lacks a column of front " + child + ", which is below it");
      }
      visitor.visit(found, tail + k);
      at = found;
    }
  }

  private static void count(SolveTree tree, int f, int[] children, int[] gather) {
    for (int child : children) {
      match(tree, child, f, (place, k) -> gather[place + 1]++);
    }
  }

  private static void fill(SolveTree tree, int f, int[] children, int[] gather, int[] gatherFrom) {
    int first = tree.start(f);
    int[] used = new int[tree.front(f).fn()];
    for (int child : children) {
      match(tree, child, f, (place, k) -> gatherFrom[gather[place] + used[place - first]++] = k);
    }
  }
}
