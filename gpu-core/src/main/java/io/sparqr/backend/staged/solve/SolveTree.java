/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged.solve;

import io.sparqr.backend.schedule.FrontDescriptor;
import io.sparqr.backend.staged.layout.StageColumns;
import io.sparqr.backend.staged.layout.StageProgram;
import io.sparqr.error.IndexOverflowException;
import io.sparqr.threads.Parallel;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.function.IntUnaryOperator;
import java.util.function.ToIntFunction;

/**
 * The fronts of a stage that is a whole task, for the items of its solves. If they pass updates to
 * columns outside the task, a last front without pivots receives those: it has these columns, and
 * all fronts with a tail and no parent below it.
 *
 * @param program the stage
 * @param fronts their descriptors, and that of the last front if there is one
 * @param outer index of that front; -1: there is none
 * @param order the fronts by their distance from the root, so that many do not wait for each other
 * @param threads host threads
 */
record SolveTree(
    StageProgram program, FrontDescriptor[] fronts, int outer, int[] order, int threads) {

  private static final int GRAIN = 256;

  /**
   * The tree of a stage.
   *
   * @param updates whether updates to columns outside the task are wanted
   */
  static SolveTree of(StageProgram program, boolean updates, int threads) {
    int n = program.fronts();
    int outside = program.outsideColumns();
    int outer = updates && outside > 0 ? n : -1;
    var fronts = new FrontDescriptor[outer < 0 ? n : n + 1];
    Parallel.loop(
        n,
        GRAIN,
        threads,
        (from, to, t) -> {
          for (int f = from; f < to; f++) {
            fronts[f] = program.descriptor(f);
          }
        });
    if (outer >= 0) {
      fronts[outer] = withoutPivots(outside, program.rhs());
    }
    var tree = new SolveTree(program, fronts, outer, new int[fronts.length], threads);
    tree.downwards();
    return tree;
  }

  private static FrontDescriptor withoutPivots(int columns, int rhs) {
    var shape = new FrontDescriptor.Shape(0, 0, columns, 0, rhs, 0, 0, 0);
    return new FrontDescriptor(FrontDescriptor.Places.NONE, shape, -1, -1, 0);
  }

  FrontDescriptor front(int f) {
    return fronts[f];
  }

  /** The front that receives front f's update; -1: it has none. */
  int parent(int f) {
    if (fronts[f].cn() == 0 || f == outer) {
      return -1;
    }
    int parent = fronts[f].parent();
    return parent < 0 ? outer : parent;
  }

  /** First place of front f's columns; those of the last front come after all others. */
  int start(int f) {
    StageColumns columns = program.columns();
    return f == outer ? columns.number().length : columns.start()[f];
  }

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
    void write(SolveItemWriter item, int f);
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
      if (start[k + 1] > SolveItem.MOST) {
        throw new IndexOverflowException(
            "a solve of more than " + SolveItem.MOST + " items", "items", start[k + 1]);
      }
    }
    ByteBuffer all =
        ByteBuffer.allocateDirect(start[n] * SolveItem.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    Parallel.loop(
        n,
        GRAIN,
        threads,
        (from, to, t) -> {
          for (int k = from; k < to; k++) {
            int f = order[up ? n - 1 - k : k];
            if (start[k] < start[k + 1]) {
              items.write(SolveItemWriter.of(all, start[k], start[k + 1], this, f), f);
            }
          }
        });
    return all;
  }

  /** Sets the order. */
  private void downwards() {
    int n = fronts.length;
    int[] depth = new int[n];
    int deepest = 0;
    for (int f = n - 1; f >= 0; f--) {
      int p = Math.max(fronts[f].parent(), parent(f));
      depth[f] = p < 0 ? 0 : depth[p] + 1;
      deepest = Math.max(deepest, depth[f]);
    }
    int[] start = new int[deepest + 2];
    for (int d : depth) {
      start[d + 1]++;
    }
    Arrays.parallelPrefix(start, Integer::sum);
    for (int f = 0; f < n; f++) {
      order[start[depth[f]]++] = f;
    }
  }
}
