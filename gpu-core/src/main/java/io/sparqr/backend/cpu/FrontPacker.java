/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cpu;

import io.sparqr.numeric.ContributionBlock;
import io.sparqr.numeric.FrontFactor;
import io.sparqr.numeric.RowMemory;
import io.sparqr.numeric.dense.ColumnStrips;
import io.sparqr.threads.Crew;
import java.nio.DoubleBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Extracts R and the contribution block from a factored front. */
final class FrontPacker {

  private final int front;
  private final int fp;
  private final int fn;
  private final int rhsCount;
  private final ColumnStrips a;
  private final int[] rowPivot;
  private final Crew crew;

  /**
   * Packs.
   *
   * @param a the front's columns, right-hand sides last
   * @param rowPivot by row: the column of its pivot
   */
  FrontPacker(int front, int fp, int fn, int rhsCount, ColumnStrips a, int[] rowPivot, Crew crew) {
    this.front = front;
    this.fp = fp;
    this.fn = fn;
    this.rhsCount = rhsCount;
    this.a = a;
    this.rowPivot = rowPivot;
    this.crew = crew;
  }

  /** R of the first {@code rank} rows, the diagonal made positive, put in memory given. */
  FrontFactor factor(int rank, RowMemory memory) {
    int[] live = Arrays.copyOf(rowPivot, rank);
    int[] start = new int[rank + 1];
    boolean[] negative = new boolean[rank];
    for (int i = 0; i < rank; i++) {
      start[i + 1] = Math.addExact(start[i], fn - live[i]);
      negative[i] = a.get(i, live[i]) < 0;
    }
    DoubleBuffer values = memory.allocate(start[rank]);
    Strips.run(
        fn,
        start[rank],
        crew,
        (strip, end) -> {
          double[] matrix = a.array(strip);
          int ld = a.ld(strip);
          for (int i = 0; i < rank && live[i] < end; i++) {
            int shift = start[i] - live[i];
            double sign = negative[i] ? -1 : 1;
            int from = Math.max(strip, live[i]);
            for (int k = from, at = i + a.at(from); k < end; k++, at += ld) {
              values.put(shift + k, sign * matrix[at]);
            }
          }
        });
    double[] rhs = new double[rank * rhsCount];
    for (int i = 0; i < rank; i++) {
      for (int q = 0; q < rhsCount; q++) {
        double x = a.get(i, fn + q);
        rhs[i * rhsCount + q] = negative[i] ? -x : x;
      }
    }
    return new FrontFactor(front, fn, live, values, rhs, rhsCount);
  }

  /** The contribution block, rows [rank, count); null if there are none. */
  @Nullable ContributionBlock block(int rank, int count) {
    int cm = count - rank;
    if (cm == 0) {
      return null;
    }
    int cn = fn - fp;
    double[] values = new double[Math.toIntExact(ContributionBlock.packedLength(cm, cn))];
    Strips.run(
        fn,
        values.length,
        crew,
        (strip, end) -> {
          double[] matrix = a.array(strip);
          int ld = a.ld(strip);
          int first = Math.max(strip, fp);
          for (int i = 0; i < cm && i < end - fp; i++) {
            int shift = (int) ((long) i * cn - (long) i * (i - 1) / 2) - i - fp;
            int row = rank + i;
            // Entries left of a row's pivot are remains of its reflector, not of the matrix.
            int from = Math.max(first, rowPivot[row]);
            for (int k = from, at = row + a.at(from); k < end; k++, at += ld) {
              values[shift + k] = matrix[at];
            }
          }
        });
    double[] rhs = new double[cm * rhsCount];
    for (int i = 0; i < cm; i++) {
      for (int q = 0; q < rhsCount; q++) {
        rhs[i * rhsCount + q] = a.get(rank + i, fn + q);
      }
    }
    return new ContributionBlock(front, cm, cn, values, rhs, rhsCount);
  }
}
