/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign;

import io.sparqr.sparse.CsrMatrix;
import java.util.Arrays;
import java.util.function.BiConsumer;

/**
 * Whether a report says that the columns in use, those that are not dead, are nearly dependent, and
 * whether its estimate of their condition is near that of an SVD.
 *
 * @param a A
 * @param whole its decomposition, with columns of equal norms
 */
record ConditionCheck(CsrMatrix a, DenseSvd whole) {

  /** The condition above which a report must say so: estimates of 1e7 may be low by a digit. */
  private static final double MOST_SILENT = 1e8;

  /** Larger conditions are rounding errors, and no estimate need find them. */
  private static final double MOST = 1e13;

  /** An estimate of the 1-norm may be off by sqrt(n), and low by a small factor. */
  private static final double FACTOR = 100;

  void run(Answer answer, BiConsumer<Check, String> found) {
    int[] dead = answer.solution().deadColumns();
    int live = a.columns() - dead.length;
    DenseSvd svd = dead.length == 0 ? whole : DenseSvd.equilibrated(without(dead));
    double condition = live > svd.sigma().length ? Double.POSITIVE_INFINITY : svd.condition(live);
    if (condition > MOST_SILENT && !answer.warned()) {
      found.accept(Check.SILENT, "condition %.1e, rank %d".formatted(condition, live));
    }
    if (live > 0 && answer.reported("conditionEstimate") instanceof Double estimate) {
      double slack = FACTOR * live;
      boolean low = estimate < Math.min(condition, MOST) / slack;
      boolean high = Math.min(estimate, MOST) > condition * slack;
      if (low || high || estimate.isNaN()) {
        found.accept(
            Check.CONDITION, "estimate %.1e, condition %.1e".formatted(estimate, condition));
      }
    }
  }

  /** A without some columns. */
  private CsrMatrix without(int[] columns) {
    int n = a.columns();
    int[] place = new int[n];
    int live = 0;
    for (int j = 0; j < n; j++) {
      place[j] = Arrays.binarySearch(columns, j) >= 0 ? -1 : live++;
    }
    int[] start = new int[a.rows() + 1];
    int[] index = new int[a.nonzeros()];
    double[] values = new double[a.nonzeros()];
    int at = 0;
    for (int i = 0; i < a.rows(); i++) {
      for (int k = a.rowStart()[i]; k < a.rowStart()[i + 1]; k++) {
        int j = place[a.columnIndex()[k]];
        if (j >= 0) {
          index[at] = j;
          values[at++] = a.values()[k];
        }
      }
      start[i + 1] = at;
    }
    return new CsrMatrix(
        a.rows(), live, start, Arrays.copyOf(index, at), Arrays.copyOf(values, at));
  }
}
