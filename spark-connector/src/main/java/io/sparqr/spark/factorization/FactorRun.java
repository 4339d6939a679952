/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factorization;

import io.sparqr.spark.cluster.ExecutorWait;
import io.sparqr.spark.exchange.PlanHandle;
import io.sparqr.spark.factor.FactorLevels;
import io.sparqr.spark.factor.FactorTotals;
import io.sparqr.spark.observe.Profiler;
import io.sparqr.spark.report.SolveReport;
import io.sparqr.spark.rows.CombineChecks;
import io.sparqr.spark.rows.DriverShare;
import io.sparqr.spark.solve.LevelSolve;
import java.util.List;
import java.util.Optional;

/**
 * What one run of the pipeline has made.
 *
 * @param factor R
 * @param first the first solution with it
 * @param rank the rank, and what it was judged by
 */
public record FactorRun(
    FactorInput input,
    PlanHandle plan,
    Factor factor,
    FirstSolution first,
    FactorRank rank,
    Course course) {

  /**
   * R, and what is known of it.
   *
   * @param levels on the executors
   * @param driverShare what the driver has of it: the singleton rows
   * @param combined the checks of rows that were combined before they were sent
   * @param totals sums over the tasks
   * @param solve solves with the levels
   */
  public record Factor(
      FactorLevels levels,
      DriverShare driverShare,
      CombineChecks combined,
      FactorTotals totals,
      LevelSolve solve) {}

  /**
   * How the run went.
   *
   * @param seconds by phase
   * @param waited for executors
   * @param group the job group of Spark
   * @param notes for the report, such as how many of the workers are used, and why
   * @param boundSeconds of the machine, below which no schedule comes
   */
  public record Course(
      SolveReport.Seconds seconds,
      ExecutorWait.Outcome waited,
      String group,
      List<String> warnings,
      List<String> notes,
      double boundSeconds,
      Optional<Profiler> profiler) {}

  /** See {@link Factor}. */
  public FactorLevels levels() {
    return factor.levels;
  }

  /** See {@link Factor}. */
  public DriverShare driverShare() {
    return factor.driverShare;
  }

  /** See {@link Factor}. */
  public CombineChecks combined() {
    return factor.combined;
  }

  /** See {@link Factor}. */
  public FactorTotals totals() {
    return factor.totals;
  }

  /** See {@link Factor}. */
  public LevelSolve solve() {
    return factor.solve;
  }
}
