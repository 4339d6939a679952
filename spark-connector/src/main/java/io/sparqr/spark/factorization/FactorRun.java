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
 * What one run of the pipeline has made: the levels of the factorization and what goes with them.
 *
 * @param notes for the report, such as how many of the workers are used, and why
 */
public record FactorRun(
    FactorInput input,
    PlanHandle plan,
    FactorLevels levels,
    DriverShare driverShare,
    CombineChecks combined,
    FactorTotals totals,
    SolveReport.Seconds seconds,
    ExecutorWait.Outcome waited,
    String group,
    List<String> warnings,
    List<String> notes,
    Optional<Profiler> profiler,
    LevelSolve solve,
    FirstSolution first,
    FactorRank rank) {}
