/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged.solve;

import io.sparqr.backend.schedule.FrontDescriptor;
import io.sparqr.backend.staged.solve.SolveItem.Wait;

/**
 * The items of R x = c: the fronts from the roots down, level by level of the tree, the rows of a
 * front from the last ones up, a step at a time. The next step's triangle comes before the products
 * with rows that it does not wait for.
 */
final class BackItems {

  private final SolveItemWriter item;
  private final FrontDescriptor d;

  /** The front's count of solved steps; those of the items that have added to a step's rows. */
  private final int solved;

  private BackItems(SolveItemWriter item, int solved) {
    this.item = item;
    this.d = item.d();
    this.solved = solved;
  }

  /** Rows assembled by one item, which takes all columns of the front in the check. */
  private static int assembled(FrontDescriptor d) {
    return Math.max(4, Math.min(SolveItem.ROWS, SolveItem.ENTRIES / d.fn()));
  }

  /** The rows of a step. */
  private static int[] rows(FrontDescriptor d, int step) {
    int to = d.fp() - step * SolveItem.STEP;
    return new int[] {Math.max(0, to - SolveItem.STEP), to};
  }

  /** Number of items for a step's rows, with this many rows each. */
  private static int parts(FrontDescriptor d, int step, int each) {
    int[] rows = rows(d, step);
    return (rows[1] - rows[0] + each - 1) / each;
  }

  /** Number of a front's items. */
  static long count(FrontDescriptor d) {
    if (d.fp() == 0 || SolveItem.whole(d)) {
      return Math.min(d.fp(), 1);
    }
    long count = 0;
    for (int step = 0; step < SolveItem.steps(d); step++) {
      count += 1 + parts(d, step, assembled(d)) + (long) step * parts(d, step, SolveItem.ROWS);
    }
    return count;
  }

  /** Writes the items. O(items). */
  static ItemList of(SolveTree tree) {
    int n = tree.fronts().length;
    // the lowest ancestor with pivots, whose solution includes that of all above it
    int[] above = new int[n];
    for (int f = n - 1; f >= 0; f--) {
      int p = tree.front(f).parent();
      above[f] = p < 0 ? -1 : tree.front(p).fp() > 0 ? p : above[p];
    }
    int[] counts = tree.counts(d -> SolveItem.whole(d) ? 0 : 1 + SolveItem.steps(d));
    return new ItemList(
        tree.list(
            false,
            f -> (int) count(tree.front(f)),
            (item, f) -> {
              int up = above[f];
              new BackItems(item, counts[f])
                  .write(
                      up < 0 ? Wait.NONE : new Wait(counts[up], SolveItem.steps(tree.front(up))));
            }),
        counts[n]);
  }

  private void write(Wait up) {
    int[] right = {d.fp(), d.fn()};
    if (SolveItem.whole(d)) {
      item.put(SolveItem.WHOLE, new int[] {0, d.fp()}, right, up, Wait.NONE, solved);
      return;
    }
    int steps = SolveItem.steps(d);
    for (int step = 0; step < steps; step++) {
      int[] own = rows(d, step);
      for (int row = own[0]; row < own[1]; row += assembled(d)) {
        int[] rows = {row, Math.min(own[1], row + assembled(d))};
        item.put(SolveItem.ASSEMBLE, rows, right, up, Wait.NONE, of(step));
      }
    }
    triangle(0);
    for (int step = 0; step < steps; step++) {
      for (int above = step + 1; above < steps; above++) {
        products(step, above);
        if (above == step + 1) {
          triangle(above);
        }
      }
    }
  }

  /** The count of items that have added to a step's rows. */
  private int of(int step) {
    return solved + SolveItem.LINE * (1 + step);
  }

  /** Waits until the products with this many steps are subtracted from a step's rows. */
  private Wait added(int step, int products) {
    int assembled = parts(d, step, assembled(d));
    return new Wait(of(step), assembled + products * parts(d, step, SolveItem.ROWS));
  }

  private void triangle(int step) {
    int[] own = rows(d, step);
    item.put(SolveItem.TRIANGLE, own, own, added(step, step), Wait.NONE, solved);
  }

  /** The products of the rows of a step above with a step's solution. */
  private void products(int step, int above) {
    int[] columns = rows(d, step);
    int[] all = rows(d, above);
    for (int row = all[0]; row < all[1]; row += SolveItem.ROWS) {
      int[] rows = {row, Math.min(all[1], row + SolveItem.ROWS)};
      var ready = new Wait(solved, step + 1);
      item.put(SolveItem.PRODUCT, rows, columns, ready, added(above, step), of(above));
    }
  }
}
