/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged;

import io.sparqr.backend.schedule.FrontDescriptor;
import io.sparqr.error.IndexOverflowException;
import io.sparqr.threads.Parallel;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.function.IntUnaryOperator;
import java.util.function.ToIntFunction;

/**
 * The fronts of a stage that is a whole tree, for the items of its solves.
 *
 * @param program the stage
 * @param fronts their descriptors
 * @param order the fronts by their distance from the root, so that many do not wait for each other
 * @param threads host threads
 */
record SolveTree(StageProgram program, FrontDescriptor[] fronts, int[] order, int threads) {

  private static final int GRAIN = 256;

  static SolveTree of(StageProgram program, int threads) {
    var fronts = new FrontDescriptor[program.fronts()];
    Parallel.loop(
        fronts.length,
        GRAIN,
        threads,
        (from, to, t) -> {
          for (int f = from; f < to; f++) {
            fronts[f] = program.descriptor(f);
          }
        });
    return new SolveTree(program, fronts, downwards(fronts), threads);
  }

  FrontDescriptor front(int f) {
    return fronts[f];
  }

  /** The front that receives front f's update; -1: it has none. */
  int parent(int f) {
    return fronts[f].cn() == 0 ? -1 : fronts[f].parent();
  }

  /**
   * The items of all fronts.
   *
   * @param items little-endian
   * @param counts number of counts that they wait for
   */
  record Listed(ByteBuffer items, int counts) {}

  /**
   * The first count of each front, and the end of all.
   *
   * @param lines by front: cache lines for its counts; 0: it has one count anywhere
   */
  int[] counts(ToIntFunction<FrontDescriptor> lines) {
    int[] start = new int[fronts.length + 1];
    int at = 0;
    for (int f = 0; f < fronts.length; f++) {
      int own = SolveItem.LINE * lines.applyAsInt(fronts[f]);
      if (own > 0) {
        at = Math.multiplyExact((at + SolveItem.LINE - 1) / SolveItem.LINE, SolveItem.LINE);
      }
      start[f] = at;
      at = Math.addExact(at, Math.max(1, own));
    }
    start[fronts.length] = at;
    return start;
  }

  /** Writes the items of front f. */
  interface Items {
    void write(SolveItem.Writer item, int f);
  }

  /**
   * A list of the items of all fronts, little-endian, by several threads.
   *
   * @param up whether the fronts come from the leaves up
   * @param count number of a front's items
   */
  ByteBuffer list(boolean up, IntUnaryOperator count, Items items) {
    int n = fronts.length;
    int[] start = new int[n + 1];
    for (int k = 0; k < n; k++) {
      start[k + 1] = start[k] + count.applyAsInt(order[up ? n - 1 - k : k]);
      if (start[k + 1] > SolveLists.MOST) {
        throw new IndexOverflowException(
            "a solve of more than " + SolveLists.MOST + " items", "items", start[k + 1]);
      }
    }
    ByteBuffer all =
        ByteBuffer.allocateDirect(start[n] * SolveLists.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    Parallel.loop(
        n,
        GRAIN,
        threads,
        (from, to, t) -> {
          for (int k = from; k < to; k++) {
            int f = order[up ? n - 1 - k : k];
            if (start[k] < start[k + 1]) {
              items.write(SolveItem.Writer.of(all, start[k], start[k + 1], this, f), f);
            }
          }
        });
    return all;
  }

  private static int[] downwards(FrontDescriptor[] fronts) {
    int n = fronts.length;
    int[] depth = new int[n];
    int deepest = 0;
    for (int f = n - 1; f >= 0; f--) {
      int p = fronts[f].parent();
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
