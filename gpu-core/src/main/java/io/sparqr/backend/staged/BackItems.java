/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged;

import io.sparqr.backend.schedule.FrontDescriptor;
import java.nio.ByteBuffer;

/**
 * The items of R x = c: the fronts from the roots down, level by level of the tree, the rows of a
 * front from the last ones up.
 */
final class BackItems {

  /** Counts of a front: solved steps, finished products. */
  static final int COUNTS = 2;

  private BackItems() {}

  /** Rows assembled by one item, which takes all columns of the front in the check. */
  private static int assembled(FrontDescriptor d) {
    return Math.max(4, Math.min(SolveItem.ROWS, SolveItem.ENTRIES / d.fn()));
  }

  /** Number of a front's items. */
  static long count(FrontDescriptor d) {
    if (d.fp() == 0 || SolveItem.whole(d)) {
      return Math.min(d.fp(), 1);
    }
    long count = parts(d.fp(), assembled(d));
    for (int to = d.fp(); to > 0; to -= SolveItem.STEP) {
      count += 1 + parts(Math.max(0, to - SolveItem.STEP), SolveItem.ROWS);
    }
    return count;
  }

  private static int parts(int rows, int each) {
    return (rows + each - 1) / each;
  }

  /** Writes the items. O(items). */
  static ByteBuffer of(SolveTree tree) {
    int n = tree.program().fronts();
    // the lowest ancestor with pivots, whose solution includes that of all above it
    int[] above = new int[n];
    for (int f = n - 1; f >= 0; f--) {
      int p = tree.front(f).parent();
      above[f] = p < 0 ? -1 : tree.front(p).fp() > 0 ? p : above[p];
    }
    return tree.list(
        false,
        f -> (int) count(tree.front(f)),
        (item, f) -> {
          int up = above[f];
          front(item, f, COUNTS * up, up < 0 ? 0 : SolveItem.steps(tree.front(up)));
        });
  }

  private static void front(SolveItem.Writer item, int f, int up, int wanted) {
    FrontDescriptor d = item.d();
    int solved = COUNTS * f;
    int products = solved + 1;
    int[] right = {d.fp(), d.fn()};
    if (SolveItem.whole(d)) {
      item.put(SolveItem.WHOLE, new int[] {0, d.fp()}, right, up, wanted, solved);
      return;
    }
    int done = 0;
    for (int row = 0; row < d.fp(); row += assembled(d), done++) {
      int[] rows = {row, Math.min(d.fp(), row + assembled(d))};
      item.put(SolveItem.ASSEMBLE, rows, right, up, wanted, products);
    }
    for (int to = d.fp(), step = 1; to > 0; to -= SolveItem.STEP, step++) {
      int[] own = {Math.max(0, to - SolveItem.STEP), to};
      item.put(SolveItem.TRIANGLE, own, own, products, done, solved);
      for (int row = 0; row < own[0]; row += SolveItem.ROWS, done++) {
        int[] rows = {row, Math.min(own[0], row + SolveItem.ROWS)};
        item.put(SolveItem.PRODUCT, rows, own, solved, step, products);
      }
    }
  }
}
