/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.internal;

import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.FactorSummary;
import io.sparqr.spark.SolveReport;
import io.sparqr.spark.plan.SolveOptions;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.ArrayList;
import java.util.List;

/** Reports of a factorization and of what was solved with it. */
final class FactorReport {

  private final SolveOptions options;
  private final FactorState.Made made;
  private final int[] dead;

  /**
   * Of a factorization.
   *
   * @param dead original indices of the dead columns, ascending
   */
  FactorReport(SolveOptions options, FactorState.Made made, int[] dead) {
    this.options = options;
    this.made = made;
    this.dead = dead;
  }

  /**
   * With a solution.
   *
   * @param norms residual norms; empty before a solve
   * @param normal the normal equations' residual, NaN: not asked for
   * @param notes warnings of this solution
   */
  SolveReport of(double[] norms, double normal, SolveReport.Seconds seconds, List<String> notes) {
    SolvePlan plan = made.plan().value();
    SymbolicAnalysis analysis = plan.analysis();
    FactorSummary summary = made.totals().summary();
    List<String> devices =
        summary.device().isEmpty() ? List.of() : List.of(summary.device().split(" \\+ "));
    return new SolveReport(
        made.pattern().rows(),
        analysis.columns(),
        made.pattern().nonzeros(),
        plan.numbers().rhsCount(),
        analysis.orderingUsed().name(),
        options.analysis().filter(analysis::equals).isPresent()
            ? "given analysis; " + analysis.orderingReason()
            : analysis.orderingReason(),
        analysis.singletonEntries() + made.totals().entries(),
        analysis.fronts(),
        analysis.flops(),
        summary.flopsDone(),
        plan.numbers().tolerance(),
        options.rankTolerance().isPresent() ? "given" : FactorOptions.DEFAULT_TOLERANCE_RULE,
        analysis.columns() - dead.length,
        dead.clone(),
        norms,
        normal,
        Math.max(summary.normDeparture(), made.combined().departure()),
        summary.backend(),
        made.totals().backendReason(),
        devices,
        plan.partition().tasks().size(),
        plan.partition().levels(),
        summary.stages(),
        summary.rounds(),
        summary.tasks(),
        summary.redoneTasks() + made.combined().redone(),
        made.pattern().shuffleBytes() + made.totals().bytesIn(),
        summary.h2dBytes(),
        summary.d2hBytes(),
        seconds,
        summary.peakDeviceBytes(),
        summary.peakHostBytes(),
        warnings(notes));
  }

  private List<String> warnings(List<String> notes) {
    var warnings = new ArrayList<>(made.warnings());
    warnings.addAll(made.totals().summary().warnings());
    if (made.combined().redone() > 0) {
      warnings.add(
          "%d batch(es) of combined rows departed from theirs and were sent as they were"
              .formatted(made.combined().redone()));
    }
    if (options.keepQ()) {
      warnings.add(
          "Q is kept beside R (keepQ): %,d bytes; rows were not combined before the shuffle"
              .formatted(made.totals().reflectorBytes()));
    }
    warnings.addAll(notes);
    return warnings;
  }
}
