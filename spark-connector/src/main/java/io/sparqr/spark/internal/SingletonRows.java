/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.internal;

import io.sparqr.numeric.RowBlock;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.wire.RowBatchCodec;
import java.util.Arrays;
import java.util.List;

/**
 * What comes to the driver of the rows: row p of R for each singleton position p, and the norms of
 * right-hand sides that meet no row of R.
 */
final class SingletonRows {

  private final RowBlock rows;
  private final int[] rowOf;
  private final double[] residualSquares;
  private final int rhsCount;
  private long entries;

  /** Takes the driver's batches; under a ridge the singleton rows are ridge rows, made here. */
  SingletonRows(SolvePlan plan, List<byte[]> batches) {
    rhsCount = plan.numbers().rhsCount();
    int n1 = plan.analysis().singletons();
    if (plan.numbers().ridge() > 0) {
      var ridge = new RowBatchCodec.Builder(rhsCount);
      double root = Math.sqrt(plan.numbers().ridge());
      for (int p = 0; p < n1; p++) {
        double v = root * plan.columnScale(plan.analysis().permutation().original(p));
        ridge.add(-1, new int[] {p}, new double[] {v}, 0, 1, new double[rhsCount], 0);
      }
      batches.add(ridge.take(Integer.MAX_VALUE, 0));
    }
    rows = RowBatchCodec.decode(batches, rhsCount);
    rowOf = new int[n1];
    Arrays.fill(rowOf, -1);
    residualSquares = new double[rhsCount];
    for (int i = 0; i < rows.rows(); i++) {
      int from = rows.rowStart()[i];
      if (rows.rowStart()[i + 1] > from) {
        rowOf[rows.position()[from]] = i;
        entries += rows.rowStart()[i + 1] - from;
      } else {
        for (int k = 0; k < rhsCount; k++) {
          double b = rows.rhs()[i * rhsCount + k];
          residualSquares[k] += b * b;
        }
      }
    }
  }

  /** Entries of R that they hold. */
  long entries() {
    return entries;
  }

  /** Squares of right-hand sides that meet no row of R. */
  double[] residualSquares() {
    return residualSquares;
  }

  /** Positions whose pivot is at most the tolerance, ascending. */
  int[] tooSmall(double tolerance) {
    int[] bad = new int[rowOf.length];
    int count = 0;
    for (int p = 0; p < rowOf.length; p++) {
      if (rowOf[p] < 0 || Math.abs(rows.value()[rows.rowStart()[rowOf[p]]]) <= tolerance) {
        bad[count++] = p;
      }
    }
    return Arrays.copyOf(bad, count);
  }

  /** The row block's row of position p. */
  int row(int p) {
    return rowOf[p];
  }

  /** The rows. */
  RowBlock rows() {
    return rows;
  }

  /** R11 x1 = c1 - R12 x2 in place: x by position, width values each; c from the rows or from x. */
  void back(double[] x, int width, boolean stored) {
    for (int p = rowOf.length - 1; p >= 0; p--) {
      int from = rows.rowStart()[rowOf[p]];
      int to = rows.rowStart()[rowOf[p] + 1];
      for (int k = 0; k < width; k++) {
        double s = stored ? rows.rhs()[rowOf[p] * rhsCount + k] : x[p * width + k];
        for (int e = from + 1; e < to; e++) {
          s -= rows.value()[e] * x[rows.position()[e] * width + k];
        }
        x[p * width + k] = s / rows.value()[from];
      }
    }
  }

  /** R11' y1 = c1 and c2 -= R12' y1 in place. */
  void forward(double[] c, int width) {
    for (int p = 0; p < rowOf.length; p++) {
      int from = rows.rowStart()[rowOf[p]];
      int to = rows.rowStart()[rowOf[p] + 1];
      for (int k = 0; k < width; k++) {
        double y = c[p * width + k] / rows.value()[from];
        c[p * width + k] = y;
        for (int e = from + 1; e < to; e++) {
          c[rows.position()[e] * width + k] -= rows.value()[e] * y;
        }
      }
    }
  }
}
