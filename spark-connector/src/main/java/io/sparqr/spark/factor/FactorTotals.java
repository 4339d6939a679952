/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factor;

import io.sparqr.numeric.FactorSummary;
import io.sparqr.spark.report.SolveReport.FactorBytes;
import java.util.Arrays;
import java.util.List;

/**
 * The totals of all subtree tasks' reports.
 *
 * @param summary merged over all factorizations; empty if there was no task
 * @param residualSquares size rhsCount: ||b - Ax||^2, the ridge's rows included
 * @param entries number of stored values of R in fronts
 * @param dead positions of dead pivot columns, by task
 * @param bytesIn bytes of rows and blocks received by shuffle
 * @param reflectorBytes bytes of stored Q
 * @param factorBytes where R is
 * @param backendReason the reason for the backend of the first task
 */
public record FactorTotals(
    FactorSummary summary,
    double[] residualSquares,
    long entries,
    int[] dead,
    long bytesIn,
    long reflectorBytes,
    FactorBytes factorBytes,
    String backendReason) {

  /**
   * Adds up the reports in the order of the tasks.
   *
   * @param onDriver size rhsCount: squares of right-hand sides that no task received
   */
  public static FactorTotals of(List<TaskReport> reports, double[] onDriver) {
    double[] squares = onDriver.clone();
    FactorSummary sum = null;
    long entries = 0;
    long bytesIn = 0;
    long kept = 0;
    FactorBytes where = FactorBytes.NONE;
    String reason = "";
    for (TaskReport r : reports) {
      sum = sum == null ? r.summary() : sum.merge(r.summary());
      for (int k = 0; k < squares.length; k++) {
        squares[k] += r.residualSquares()[k];
      }
      entries += r.entries();
      bytesIn += r.bytes().in();
      kept += r.bytes().reflectors();
      where = where.plus(r.bytes().factor());
      reason = reason.isEmpty() ? r.backendReason() : reason;
    }
    FactorSummary all = sum == null ? FactorSummary.none() : sum;
    int[] dead = reports.stream().flatMapToInt(r -> Arrays.stream(r.dead())).toArray();
    return new FactorTotals(all, squares, entries, dead, bytesIn, kept, where, reason);
  }
}
