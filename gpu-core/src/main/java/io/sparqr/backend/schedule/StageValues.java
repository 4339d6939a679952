/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

import io.sparqr.numeric.ContributionBlock;
import io.sparqr.numeric.RowBlock;
import java.nio.DoubleBuffer;
import java.util.List;

/** A stage's values, straight from the problem's rows and the blocks. */
record StageValues(FrontRows rows, int[] fronts, List<ContributionBlock> blocks)
    implements RoundExecutor.StageInput {

  @Override
  public void writeS(int from, int to, DoubleBuffer target) {
    for (int f = from; f < to; f++) {
      writeRuns(fronts[f], false, target);
      writeRuns(fronts[f], true, target);
    }
  }

  /** Entries or right-hand sides of a front's rows; rows that follow each other at once. */
  private void writeRuns(int front, boolean right, DoubleBuffer target) {
    RowBlock r = rows.rows();
    int rhs = r.rhsCount();
    int n = rows.count(front);
    int k = 0;
    while (k < n) {
      int first = rows.row(front, k);
      int end = first;
      do {
        end++;
        k++;
      } while (k < n && rows.row(front, k) == end);
      if (right) {
        target.put(r.rhs(), first * rhs, (end - first) * rhs);
      } else {
        int start = r.rowStart()[first];
        target.put(r.value(), start, r.rowStart()[end] - start);
      }
    }
  }

  @Override
  public void writeBlock(int b, DoubleBuffer target) {
    target.put(blocks.get(b).values());
    target.put(blocks.get(b).rhs());
  }
}
