/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged.solve;

import io.sparqr.backend.schedule.FrontDescriptor;
import io.sparqr.backend.staged.solve.SolveItem.Wait;

/**
 * The items of R'y = c: the fronts from the leaves up, level by level of the tree, the rows of a
 * front from the first ones down, a step at a time. The next step's triangle comes before the
 * products with columns that it does not wait for.
 */
final class ForwardItems {

  /** Columns of an item with products; a step has a multiple of it. */
  private static final int COLUMNS = 32;

  private final SolveItemWriter item;
  private final FrontDescriptor d;

  /**
   * The front's count of arrived updates of its children; after it those of solved steps, and for
   * each {@link SolveItem#STEP} columns of the items that have added to them.
   */
  private final int arrived;

  /** The parent's count of arrivals; -1: none. */
  private final int up;

  private ForwardItems(SolveItemWriter item, int arrived, int up) {
    this.item = item;
    this.d = item.d();
    this.arrived = arrived;
    this.up = up;
  }

  /**
   * Columns assembled by one item, at most one a thread; it also takes all of the front's rows in
   * the check. A step has a multiple of it.
   */
  private static int assembled(FrontDescriptor d) {
    int columns = SolveItem.ENTRIES / Math.max(1, d.fp());
    return Math.max(COLUMNS, Math.min(SolveItem.STEP, Integer.highestOneBit(columns)));
  }

  private static int parts(int columns, int each) {
    return (columns + each - 1) / each;
  }

  /** End of the rows of a step. */
  private static int end(FrontDescriptor d, int step) {
    return Math.min(d.fp(), (step + 1) * SolveItem.STEP);
  }

  /** Number of items for the products of a step, up to the last column. */
  private static int products(FrontDescriptor d, int step) {
    int from = end(d, step);
    return from == d.fn() ? 0 : parts(d.fn(), COLUMNS) - from / COLUMNS;
  }

  /** Number of a front's items. */
  static long count(FrontDescriptor d) {
    if (SolveItem.whole(d)) {
      return 1;
    }
    long count = parts(d.fn(), assembled(d));
    for (int step = 0; step < SolveItem.steps(d); step++) {
      count += 1 + products(d, step);
    }
    return count;
  }

  /** Number of a front's items after which its update is complete. */
  private static int last(FrontDescriptor d) {
    if (SolveItem.whole(d)) {
      return 1;
    }
    return d.fp() == 0 ? parts(d.fn(), assembled(d)) : products(d, SolveItem.steps(d) - 1);
  }

  /** Writes the items. O(items). */
  static ItemList of(SolveTree tree) {
    int n = tree.fronts().length;
    int[] arriving = new int[n];
    for (int f = 0; f < n; f++) {
      if (tree.parent(f) >= 0) {
        arriving[tree.parent(f)] += last(tree.front(f));
      }
    }
    int[] counts = tree.counts(d -> SolveItem.whole(d) ? 0 : 2 + parts(d.fn(), SolveItem.STEP));
    return new ItemList(
        tree.list(
            true,
            f -> (int) count(tree.front(f)),
            (item, f) -> {
              int parent = tree.parent(f);
              new ForwardItems(item, counts[f], parent < 0 ? -1 : counts[parent])
                  .write(new Wait(counts[f], arriving[f]));
            }),
        counts[n]);
  }

  private void write(Wait children) {
    if (SolveItem.whole(d)) {
      int[] all = {0, d.fn()};
      item.put(SolveItem.WHOLE, new int[] {0, d.fp()}, all, children, Wait.NONE, up);
      return;
    }
    int each = assembled(d);
    for (int j = 0; j < d.fn(); j += each) {
      int[] columns = {j, Math.min(d.fn(), j + each)};
      int signal = d.fp() == 0 ? up : of(j);
      item.put(SolveItem.ASSEMBLE, new int[] {0, d.fp()}, columns, children, Wait.NONE, signal);
    }
    int steps = SolveItem.steps(d);
    if (steps > 0) {
      triangle(0);
    }
    for (int step = 0; step < steps; step++) {
      int from = end(d, step);
      int near = from;
      if (step + 1 < steps) {
        near = Math.min(d.fn(), from + SolveItem.STEP);
        products(step, from, near);
        triangle(step + 1);
      }
      products(step, near, d.fn());
    }
  }

  /** The count of items that have added to a column and its neighbors. */
  private int of(int column) {
    return arrived + SolveItem.LINE * (2 + column / SolveItem.STEP);
  }

  /** Waits until the products with this many steps are subtracted from a column. */
  private Wait added(int column, int products) {
    int first = column / SolveItem.STEP * SolveItem.STEP;
    int width = Math.min(d.fn() - first, SolveItem.STEP);
    return new Wait(of(column), parts(width, assembled(d)) + products * parts(width, COLUMNS));
  }

  private void triangle(int step) {
    int[] own = {step * SolveItem.STEP, end(d, step)};
    int solved = arrived + SolveItem.LINE;
    item.put(SolveItem.TRIANGLE, own, own, added(own[0], step), Wait.NONE, solved);
  }

  /** The products of a step's solution with columns [from, to). */
  private void products(int step, int from, int to) {
    int[] rows = {step * SolveItem.STEP, end(d, step)};
    boolean last = rows[1] == d.fp();
    var ready = new Wait(arrived + SolveItem.LINE, step + 1);
    int next;
    for (int j = from; j < to; j = next) {
      next = Math.min(to, (j / COLUMNS + 1) * COLUMNS);
      int[] columns = {j, next};
      item.put(SolveItem.PRODUCT, rows, columns, ready, added(j, step), last ? up : of(j));
    }
  }
}
