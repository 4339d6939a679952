/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged.layout;

import io.sparqr.error.IndexOverflowException;
import io.sparqr.numeric.integrity.TaskColumns;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.threads.Parallel;

/**
 * The numbering of a stage's columns, and each front's columns in it, for sums over columns.
 *
 * @param all the stage's columns, numbered
 * @param start size fronts + blocks + 1; first place of each front, then of each block from
 *     outside, in {@code number}
 * @param number columns of each front as numbers of the stage's columns: fp pivots, then the tail;
 *     of each block: the tail of its front
 * @param steps largest number of reflectors that a column passes through on a path of the stage
 */
public record StageColumns(TaskColumns all, int[] start, int[] number, long steps) {

  /** Number of columns, without right-hand sides. */
  public int count() {
    return all.count();
  }

  /**
   * Numbers the columns of a stage's fronts. O(map entries), by several threads.
   *
   * @param blocks fronts whose blocks come from outside
   * @param steps see {@link StageColumns}
   */
  static StageColumns of(
      SymbolicAnalysis analysis, int[] fronts, int[] blocks, long steps, int threads) {
    var all = new TaskColumns(analysis, fronts);
    int[] start = new int[fronts.length + blocks.length + 1];
    long end = 0;
    for (int f = 0; f < fronts.length + blocks.length; f++) {
      end += f < fronts.length ? analysis.fn(fronts[f]) : analysis.cn(blocks[f - fronts.length]);
      if (end > Integer.MAX_VALUE - 8) {
        throw new IndexOverflowException(
            "columns of a stage's fronts: " + end + " is too many", "columns of fronts", end);
      }
      start[f + 1] = (int) end;
    }
    int[] number = new int[(int) end];
    Parallel.loop(
        fronts.length + blocks.length,
        256,
        threads,
        (from, to, t) -> {
          for (int f = from; f < to; f++) {
            if (f < fronts.length) {
              all.numbers(fronts[f], number, start[f]);
            } else {
              all.tailNumbers(blocks[f - fronts.length], number, start[f]);
            }
          }
        });
    return new StageColumns(all, start, number, steps);
  }
}
