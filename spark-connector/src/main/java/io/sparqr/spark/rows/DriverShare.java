/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.rows;

import io.sparqr.numeric.RowBlock;
import io.sparqr.numeric.SingletonRows;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.wire.RowBatchCodec;
import java.util.Arrays;
import java.util.List;

/**
 * The driver's share of the rows: row p of R for each singleton position p, and the norms of the
 * right-hand sides without a row of R.
 *
 * @param singletons the rows [R11 R12]; empty if none was received
 * @param residualSquares size rhsCount: squares of the right-hand sides without a row of R
 */
public record DriverShare(SingletonRows singletons, double[] residualSquares) {

  /**
   * Decodes the driver's batches; with a ridge the singleton rows are ridge rows, and are created
   * here.
   */
  public static DriverShare of(SolvePlan plan, List<byte[]> batches) {
    int rhsCount = plan.numbers().rhsCount();
    int n1 = plan.analysis().singletons();
    if (plan.numbers().ridge().any()) {
      batches.add(ridge(plan, rhsCount, n1));
    }
    RowBlock rows = RowBatchCodec.decode(batches, rhsCount);
    int[] rowOf = new int[n1];
    Arrays.fill(rowOf, -1);
    double[] squares = new double[rhsCount];
    for (int i = 0; i < rows.rows(); i++) {
      int from = rows.rowStart()[i];
      if (rows.rowStart()[i + 1] > from) {
        rowOf[rows.position()[from]] = i;
      } else {
        for (int k = 0; k < rhsCount; k++) {
          double b = rows.rhs()[i * rhsCount + k];
          squares[k] += b * b;
        }
      }
    }
    return new DriverShare(inOrder(rows, rowOf, rhsCount), squares);
  }

  private static byte[] ridge(SolvePlan plan, int rhsCount, int n1) {
    var ridge = new RowBatchCodec.Builder(rhsCount);
    for (int p = 0; p < n1; p++) {
      int j = plan.analysis().permutation().original(p);
      double v = plan.scaled(j, Math.sqrt(plan.numbers().ridge().of(j)));
      ridge.add(-1, new int[] {p}, new double[] {v}, 0, 1, new double[rhsCount], 0);
    }
    return ridge.take(Integer.MAX_VALUE, 0);
  }

  private static SingletonRows inOrder(RowBlock rows, int[] rowOf, int rhsCount) {
    int n1 = rowOf.length;
    int[] start = new int[n1 + 1];
    for (int p = 0; p < n1; p++) {
      int i = rowOf[p];
      start[p + 1] = start[p] + (i < 0 ? 0 : rows.rowStart()[i + 1] - rows.rowStart()[i]);
    }
    int[] position = new int[start[n1]];
    double[] value = new double[start[n1]];
    double[] rhs = new double[n1 * rhsCount];
    for (int p = 0; p < n1; p++) {
      if (rowOf[p] >= 0) {
        int from = rows.rowStart()[rowOf[p]];
        System.arraycopy(rows.position(), from, position, start[p], start[p + 1] - start[p]);
        System.arraycopy(rows.value(), from, value, start[p], start[p + 1] - start[p]);
        System.arraycopy(rows.rhs(), rowOf[p] * rhsCount, rhs, p * rhsCount, rhsCount);
      }
    }
    return new SingletonRows(start, position, value, rhs, rhsCount);
  }
}
