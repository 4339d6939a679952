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

  /** Rows of an item with products. */
  private static int rows(FrontDescriptor d) {
    return Math.max(4, Math.min(SolveItem.ROWS, SolveItem.ENTRIES / d.fn()));
  }

  /** Number of items. O(fronts). */
  static long count(StageProgram program) {
    long count = 0;
    for (int f = 0; f < program.fronts(); f++) {
      FrontDescriptor d = program.descriptor(f);
      if (d.fp() == 0) {
        continue;
      }
      count++;
      for (int to = d.fp(); to > 0 && !SolveItem.whole(d); to -= SolveItem.STEP) {
        int from = Math.max(0, to - SolveItem.STEP);
        // a triangle a step, but for the one counted
        count += (from == 0 ? 0 : 1) + (to - from + rows(d) - 1) / rows(d);
      }
    }
    return count;
  }

  /** Writes the items. O(items). */
  static ByteBuffer of(StageProgram program) {
    int n = program.fronts();
    ByteBuffer list = SolveLists.items(count(program));
    int[] steps = new int[n];
    // the lowest ancestor with pivots, whose solution includes that of all above it
    int[] above = new int[n];
    for (int f : SolveItem.downwards(program)) {
      FrontDescriptor d = program.descriptor(f);
      int p = d.parent();
      above[f] = p < 0 ? -1 : program.descriptor(p).fp() > 0 ? p : above[p];
      if (d.fp() > 0) {
        steps[f] = SolveItem.steps(d);
        int up = above[f];
        front(SolveItem.Writer.of(list, program, f), f, up, up < 0 ? 0 : steps[up]);
      }
    }
    return list.flip();
  }

  private static void front(SolveItem.Writer item, int f, int up, int wanted) {
    FrontDescriptor d = item.d();
    int solved = COUNTS * f;
    int[] right = {d.fp(), d.fn()};
    if (SolveItem.whole(d)) {
      item.put(SolveItem.WHOLE, new int[] {0, d.fp()}, right, COUNTS * up, wanted, solved);
      return;
    }
    int products = 0;
    for (int to = d.fp(), step = 0; to > 0; to -= SolveItem.STEP, step++) {
      int from = Math.max(0, to - SolveItem.STEP);
      int wait = step == 0 ? COUNTS * up : solved;
      for (int row = from; row < to; row += rows(d)) {
        int[] rows = {row, Math.min(to, row + rows(d))};
        int[] columns = {to, d.fn()};
        item.put(SolveItem.PRODUCT, rows, columns, wait, step == 0 ? wanted : step, solved + 1);
        products++;
      }
      int[] own = {from, to};
      item.put(SolveItem.TRIANGLE, own, own, solved + 1, products, solved);
    }
  }
}
