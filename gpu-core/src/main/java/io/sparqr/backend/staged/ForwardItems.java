/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged;

import io.sparqr.backend.schedule.FrontDescriptor;
import java.nio.ByteBuffer;

/**
 * The items of R'y = c: the fronts from the leaves up, level by level of the tree, the rows of a
 * front from the first ones down.
 */
final class ForwardItems {

  /** Counts of a front: arrived updates of its children, finished products, solved steps. */
  static final int COUNTS = 3;

  /** Columns of an item with products. */
  private static final int COLUMNS = 32;

  private ForwardItems() {}

  /**
   * Columns assembled by one item, at most one a thread; it also takes all of the front's rows in
   * the check.
   */
  private static int assembled(FrontDescriptor d) {
    int columns = SolveItem.ENTRIES / Math.max(1, d.fp()) / 32 * 32;
    return Math.max(32, Math.min(128, columns));
  }

  private static int parts(int columns, int each) {
    return (columns + each - 1) / each;
  }

  /** Number of a front's items. */
  static long count(FrontDescriptor d) {
    if (SolveItem.whole(d)) {
      return 1;
    }
    long count = parts(d.fn(), assembled(d));
    for (int from = 0; from < d.fp(); from += SolveItem.STEP) {
      int to = Math.min(d.fp(), from + SolveItem.STEP);
      count += 1 + parts(d.fn() - to, COLUMNS);
    }
    return count;
  }

  /** Number of a front's items after which its update is complete. */
  private static int last(FrontDescriptor d) {
    if (SolveItem.whole(d)) {
      return 1;
    }
    return d.fp() == 0 ? parts(d.fn(), assembled(d)) : parts(d.cn(), COLUMNS);
  }

  /** Writes the items. O(items). */
  static ByteBuffer of(SolveTree tree) {
    int n = tree.program().fronts();
    int[] arriving = new int[n];
    for (int f = 0; f < n; f++) {
      if (tree.parent(f) >= 0) {
        arriving[tree.parent(f)] += last(tree.front(f));
      }
    }
    return tree.list(
        true,
        f -> (int) count(tree.front(f)),
        (item, f) -> {
          int parent = tree.parent(f);
          front(item, f, arriving[f], parent < 0 ? -1 : COUNTS * parent);
        });
  }

  /**
   * The items of a front.
   *
   * @param up the parent's count of arrivals; -1: none
   */
  private static void front(SolveItem.Writer item, int f, int arriving, int up) {
    FrontDescriptor d = item.d();
    int arrived = COUNTS * f;
    int products = arrived + 1;
    int solved = arrived + 2;
    if (SolveItem.whole(d)) {
      int[] all = {0, d.fn()};
      item.put(SolveItem.WHOLE, new int[] {0, d.fp()}, all, arrived, arriving, up);
      return;
    }
    int done = 0;
    int each = assembled(d);
    for (int j = 0; j < d.fn(); j += each) {
      int[] columns = {j, Math.min(d.fn(), j + each)};
      int signal = d.fp() == 0 ? up : products;
      item.put(SolveItem.ASSEMBLE, new int[] {0, d.fp()}, columns, arrived, arriving, signal);
      done++;
    }
    for (int from = 0, step = 1; from < d.fp(); from += SolveItem.STEP, step++) {
      int[] rows = {from, Math.min(d.fp(), from + SolveItem.STEP)};
      item.put(SolveItem.TRIANGLE, rows, rows, products, done, solved);
      boolean end = rows[1] == d.fp();
      for (int j = rows[1]; j < d.fn(); j += COLUMNS) {
        int[] columns = {j, Math.min(d.fn(), j + COLUMNS)};
        item.put(SolveItem.PRODUCT, rows, columns, solved, step, end ? up : products);
        done++;
      }
    }
  }
}
