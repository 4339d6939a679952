/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

import io.sparqr.numeric.ContributionBlock;
import io.sparqr.numeric.RowBlock;
import io.sparqr.numeric.integrity.BitChecksum;
import io.sparqr.numeric.integrity.GivenValues;
import java.nio.DoubleBuffer;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;

/**
 * A stage's values, straight from the problem's rows and the blocks. What is read is summed up as
 * it is read ({@link BitChecksum}), piece by piece while it is in the caches: the executor has to
 * have the same.
 */
final class StageValues implements RoundExecutor.StageInput {

  /** Values that are copied, then summed up, at a time. */
  private static final int PIECE = 1 << 12;

  private final FrontRows rows;
  private final int[] fronts;
  private final List<ContributionBlock> blocks;
  private final GivenValues given;
  private final LongAdder bits = new LongAdder();

  /**
   * Values of a stage.
   *
   * @param fronts of the stage, by number of the analysis
   * @param blocks that go in
   * @param given hears of each front's rows; null: nobody does
   */
  StageValues(FrontRows rows, int[] fronts, List<ContributionBlock> blocks, GivenValues given) {
    this.rows = rows;
    this.fronts = fronts;
    this.blocks = blocks;
    this.given = given;
  }

  FrontRows rows() {
    return rows;
  }

  int[] fronts() {
    return fronts;
  }

  /** The sum of the mixed bits of all that was read. */
  long bits() {
    return bits.sum();
  }

  @Override
  public void writeS(int from, int to, DoubleBuffer target) {
    for (int f = from; f < to; f++) {
      long sum = writeRuns(fronts[f], false, target) + writeRuns(fronts[f], true, target);
      if (given != null) {
        given.use(rows.place(fronts[f]), sum);
      }
      bits.add(sum);
    }
  }

  /** Entries or right-hand sides of a front's rows; rows that follow each other at once. */
  private long writeRuns(int front, boolean right, DoubleBuffer target) {
    RowBlock r = rows.rows();
    int rhs = r.rhsCount();
    int n = rows.count(front);
    long sum = 0;
    int k = 0;
    while (k < n) {
      int first = rows.row(front, k);
      int end = first;
      do {
        end++;
        k++;
      } while (k < n && rows.row(front, k) == end);
      sum +=
          right
              ? write(r.rhs(), first * rhs, end * rhs, target)
              : write(r.value(), r.rowStart()[first], r.rowStart()[end], target);
    }
    return sum;
  }

  private static long write(double[] x, int from, int to, DoubleBuffer target) {
    long sum = 0;
    int at = from;
    while (at < to) {
      int count = Math.min(PIECE, to - at);
      target.put(x, at, count);
      sum += BitChecksum.sum(x, at, at + count);
      at += count;
    }
    return sum;
  }

  @Override
  public void writeBlock(int b, DoubleBuffer target) {
    double[] values = blocks.get(b).values();
    double[] rhs = blocks.get(b).rhs();
    bits.add(write(values, 0, values.length, target) + write(rhs, 0, rhs.length, target));
  }
}
