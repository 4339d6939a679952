/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.inverse;

import io.sparqr.numeric.RowBlock;
import io.sparqr.spark.rows.LeverageRouter;
import io.sparqr.spark.solve.FrontColumns;
import io.sparqr.spark.wire.LeverageCodec;
import io.sparqr.spark.wire.RowBatchCodec;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Leverages a'(R'R)^-1 a of the rows of one task, front by front: all columns of a row are among
 * those of its front, on which the inverse is known.
 */
final class RowLeverages {

  private final SymbolicAnalysis analysis;
  private final RowBlock rows;

  /** Row indices ordered by front. */
  private final int[] order;

  private final AtomicInteger left;
  private final double[] leverage;

  /**
   * Without any leverages yet.
   *
   * @param batches of {@link LeverageRouter}
   */
  RowLeverages(SymbolicAnalysis analysis, List<byte[]> batches) {
    this.analysis = analysis;
    this.rows = RowBatchCodec.decode(batches, LeverageRouter.WIDTH);
    this.leverage = new double[rows.rows()];
    this.left = new AtomicInteger(rows.rows());
    this.order = byFront(rows, analysis.fronts());
  }

  private static int[] byFront(RowBlock rows, int fronts) {
    int[] order = new int[rows.rows()];
    if (order.length == 0) {
      return order;
    }
    int[] next = new int[fronts + 1];
    for (int i = 0; i < order.length; i++) {
      next[rows.front()[i] + 1]++;
    }
    for (int f = 0; f < fronts; f++) {
      next[f + 1] += next[f];
    }
    for (int i = 0; i < order.length; i++) {
      order[next[rows.front()[i]]++] = i;
    }
    return order;
  }

  /**
   * Computes the leverages for a front from the inverse on it; may run on several threads for
   * different fronts.
   */
  void front(int f, FrontInverse z) {
    int[] local = new int[0];
    int at = firstOf(f);
    for (; at < order.length && rows.front()[order[at]] == f; at++) {
      int i = order[at];
      int from = rows.rowStart()[i];
      int count = rows.rowStart()[i + 1] - from;
      local = local.length < count ? new int[2 * count] : local;
      locals(f, from, count, local);
      double norm = z.norm(local, rows.value(), from, count);
      leverage[i] = norm * norm;
      left.decrementAndGet();
    }
  }

  private int firstOf(int f) {
    int low = 0;
    int high = order.length;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (rows.front()[order[middle]] < f) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  private void locals(int f, int from, int count, int[] local) {
    int first = analysis.firstPivot(f);
    int fp = analysis.fp(f);
    int low = fp;
    for (int k = 0; k < count; k++) {
      int p = rows.position()[from + k];
      if (p < first + fp) {
        local[k] = p - first;
      } else {
        low = FrontColumns.find(analysis, f, p, low);
        local[k] = low++;
      }
    }
  }

  /** The leverages, one frame per source partition of the rows. */
  List<byte[]> frames() {
    if (left.get() > 0) {
      throw new IllegalStateException(left + " rows of fronts that are not this task's");
    }
    var frames = new ArrayList<byte[]>();
    int[] number = new int[leverage.length];
    for (int i = 0; i < number.length; i++) {
      number[i] = (int) rows.rhs()[i * LeverageRouter.WIDTH + 1];
    }
    int from = 0;
    for (int i = 1; i <= number.length; i++) {
      if (i == number.length || partition(i) != partition(from)) {
        frames.add(LeverageCodec.encode(partition(from), number, leverage, from, i));
        from = i;
      }
    }
    return frames;
  }

  private int partition(int i) {
    return (int) rows.rhs()[i * LeverageRouter.WIDTH];
  }
}
