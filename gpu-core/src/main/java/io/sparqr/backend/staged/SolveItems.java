/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged;

import io.sparqr.backend.schedule.FrontDescriptor;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * The items of a back substitution on a device, as {@code back_substitution.cuh} defines them: the
 * fronts from the roots down, level by level of the tree, the rows of a front from the last ones
 * up. An item waits only for items before it.
 */
public final class SolveItems {

  /** Bytes of SparqrSolveItem. */
  public static final int BYTES = 48;

  private static final int WHOLE = 0;
  private static final int PRODUCT = 1;
  private static final int TRIANGLE = 2;

  /** Most rows of one item with products: 8 for each of 4 warps. */
  private static final int ROWS = 32;

  /** Most columns of a front that one thread block solves alone. */
  private static final int WHOLE_COLUMNS = 4096;

  /** Approximate entries of an item of a front with more rows or columns. */
  private static final int PRODUCT_ENTRIES = 1 << 15;

  /** Rows whose triangle is solved by one thread block. */
  private static final int STEP = 256;

  /** Most items: their bytes fit a buffer. */
  private static final int MOST = Integer.MAX_VALUE / BYTES;

  private SolveItems() {}

  /** Number of items of a stage; -1 if there are too many. O(fronts). */
  public static int count(StageProgram program) {
    long count = 0;
    for (int f = 0; f < program.fronts(); f++) {
      count += count(program.descriptor(f));
    }
    return count > MOST ? -1 : (int) count;
  }

  private static boolean whole(FrontDescriptor d) {
    return d.fp() <= ROWS && d.fn() <= WHOLE_COLUMNS;
  }

  /** Rows of an item with products. */
  private static int rows(FrontDescriptor d) {
    return Math.max(4, Math.min(ROWS, PRODUCT_ENTRIES / d.fn()));
  }

  private static int steps(FrontDescriptor d) {
    return whole(d) ? 1 : (d.fp() + STEP - 1) / STEP;
  }

  private static long count(FrontDescriptor d) {
    if (d.fp() == 0) {
      return 0;
    }
    if (whole(d)) {
      return 1;
    }
    long count = 0;
    for (int to = d.fp(); to > 0; to -= STEP) {
      int from = Math.max(0, to - STEP);
      count += 1 + (to - from + rows(d) - 1) / rows(d);
    }
    return count;
  }

  /**
   * Writes the items of a stage, little-endian. O(items).
   *
   * @param count {@link #count}, at least 0
   */
  public static ByteBuffer of(StageProgram program, int count) {
    int n = program.fronts();
    var b = ByteBuffer.allocateDirect(count * BYTES).order(ByteOrder.LITTLE_ENDIAN);
    int[] steps = new int[n];
    // the lowest ancestor with pivots, whose solution includes that of all above it
    int[] above = new int[n];
    for (int f : downwards(program)) {
      FrontDescriptor d = program.descriptor(f);
      int p = d.parent();
      above[f] = p < 0 ? -1 : program.descriptor(p).fp() > 0 ? p : above[p];
      if (d.fp() == 0) {
        continue;
      }
      steps[f] = steps(d);
      int up = above[f];
      int wanted = up < 0 ? 0 : steps[up];
      // right-hand sides follow the values of R and of the block, which a root without a tail lacks
      long right = program.outStart(f) + d.packedDoubles(0, d.fp()) - (long) d.fp() * d.rhs();
      if (d.parent() < 0) {
        right += d.packedDoubles(d.fp(), d.fp() + d.cm()) - (long) d.cm() * d.rhs();
      }
      var item = new Item(b, program.outStart(f), right, f);
      if (whole(d)) {
        item.put(WHOLE, 0, d.fp(), d.fp(), up, wanted, 0);
        continue;
      }
      int products = 0;
      for (int to = d.fp(), step = 0; to > 0; to -= STEP, step++) {
        int from = Math.max(0, to - STEP);
        for (int row = from; row < to; row += rows(d)) {
          int end = Math.min(to, row + rows(d));
          item.put(PRODUCT, row, end, to, step == 0 ? up : f, step == 0 ? wanted : step, 0);
          products++;
        }
        item.put(TRIANGLE, from, to, to, -1, 0, products);
      }
    }
    return b.flip();
  }

  /** A front's part of its items. */
  private record Item(ByteBuffer b, long out, long right, int front) {
    void put(int kind, int from, int to, int column, int wait, int solved, int products) {
      b.putLong(out).putLong(right).putInt(kind).putInt(front).putInt(from).putInt(to);
      b.putInt(column).putInt(wait).putInt(solved).putInt(products);
    }
  }

  /** The fronts by their distance from the root, so that many do not wait for each other. */
  private static int[] downwards(StageProgram program) {
    int n = program.fronts();
    int[] depth = new int[n];
    int deepest = 0;
    for (int f = n - 1; f >= 0; f--) {
      int p = program.descriptor(f).parent();
      depth[f] = p < 0 ? 0 : depth[p] + 1;
      deepest = Math.max(deepest, depth[f]);
    }
    int[] start = new int[deepest + 2];
    for (int d : depth) {
      start[d + 1]++;
    }
    Arrays.parallelPrefix(start, Integer::sum);
    int[] order = new int[n];
    for (int f = 0; f < n; f++) {
      order[start[depth[f]]++] = f;
    }
    return order;
  }
}
