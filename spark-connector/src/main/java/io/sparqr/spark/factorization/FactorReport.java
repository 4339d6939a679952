/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factorization;

import io.sparqr.backend.FrontMethod;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.FactorSummary;
import io.sparqr.partition.SubtreeTask;
import io.sparqr.spark.condition.Condition;
import io.sparqr.spark.condition.RankRequest;
import io.sparqr.spark.dependence.BasicColumns;
import io.sparqr.spark.observe.RunRecords;
import io.sparqr.spark.plan.SolveOptions;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.report.QrCriteria;
import io.sparqr.spark.report.SolveProfile;
import io.sparqr.spark.report.SolveReport;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** The report of a factorization, computed once, and the reports of the solves with it. */
public final class FactorReport {

  private final SolveReport report;

  /**
   * The report of a factorization.
   *
   * @param basic which columns are dead
   */
  FactorReport(SolveOptions options, FactorRun made, BasicColumns basic) {
    SolvePlan plan = made.plan().value();
    FactorSummary summary = made.totals().summary();
    this.report =
        new SolveReport(
            new SolveReport.Matrix(
                made.input().rows(),
                plan.analysis().columns(),
                made.input().nonzeros(),
                plan.numbers().rhsCount()),
            analysis(options, plan, made),
            new SolveReport.Cluster(
                made.course().waited().executors(),
                made.course().waited().seconds(),
                made.levels().engine().name(),
                "",
                RunRecords.of(made.levels().engine(), made.course().seconds().total(), options)),
            factorization(made, plan),
            rankTest(options, made, basic.dropped()),
            new SolveReport.Proof(
                Math.max(summary.normDeparture(), made.combined().departure()),
                summary.redoneTasks() + made.combined().redone()),
            new SolveReport.Traffic(
                made.input().shuffleBytes() + made.totals().bytesIn(),
                summary.h2dBytes(),
                summary.d2hBytes()),
            SolveReport.Residual.none(),
            made.course().seconds(),
            warnings(made, basic),
            notes(options, made),
            SolveProfile.NONE,
            QrCriteria.NONE);
  }

  private static List<String> notes(SolveOptions options, FactorRun made) {
    var notes = new ArrayList<>(made.course().notes());
    if (options.factorization().keepQ()) {
      notes.add(
          "Q is kept beside R: %,d bytes; rows were not combined before the shuffle"
              .formatted(made.totals().reflectorBytes()));
    }
    return notes;
  }

  /**
   * The report with a solution.
   *
   * @param residual of the solution; {@link SolveReport.Residual#none} before a solve
   * @param notes how it was found
   * @param warnings of this solution
   */
  SolveReport of(
      SolveReport.Residual residual,
      SolveReport.Seconds seconds,
      List<String> notes,
      List<String> warnings) {
    return report.withResidual(residual, seconds).withNotes(notes).withWarnings(warnings);
  }

  private static SolveReport.Analysis analysis(
      SolveOptions options, SolvePlan plan, FactorRun made) {
    SymbolicAnalysis a = plan.analysis();
    return new SolveReport.Analysis(
        a.orderingUsed().name(),
        orderingReason(options, a) + moved(made.rank().request()),
        a.fronts(),
        a.flops(),
        plan.partition().tasks().size(),
        plan.partition().levels(),
        made.course().boundSeconds());
  }

  private static String moved(RankRequest request) {
    int count = request.last().length;
    return count == 0
        ? ""
        : "; %d dependent column%s moved to the end".formatted(count, count == 1 ? "" : "s");
  }

  /** The reason for the column order. */
  public static String orderingReason(SolveOptions options, SymbolicAnalysis a) {
    // The plan may have spread tall fronts: another analysis, with the very order of the given one.
    boolean given =
        options.analysis().known().filter(k -> k.permutation().equals(a.permutation())).isPresent();
    return given ? "given analysis; " + a.orderingReason() : a.orderingReason();
  }

  private static SolveReport.Factorization factorization(FactorRun made, SolvePlan plan) {
    SymbolicAnalysis analysis = plan.analysis();
    FactorSummary summary = made.totals().summary();
    List<String> devices =
        summary.device().isEmpty() ? List.of() : List.of(summary.device().split(" \\+ "));
    long foretold =
        plan.partition().tasks().stream().mapToLong(SubtreeTask::hostBytes).max().orElse(0);
    return new SolveReport.Factorization(
        analysis.singletonEntries() + made.totals().entries(),
        summary.flopsDone(),
        summary.backend(),
        made.totals().backendReason(),
        devices,
        new SolveReport.Schedule(
            summary.stages(),
            summary.rounds(),
            summary.tasks(),
            devices.isEmpty() ? "" : plan.numbers().fronts().tuned().origin()),
        new SolveReport.Memory(summary.peakDeviceBytes(), summary.peakHostBytes(), foretold),
        made.totals().factorBytes(),
        gram(plan, summary.gram()));
  }

  private static SolveReport.Gram gram(SolvePlan plan, FactorSummary.Gram g) {
    String method =
        (plan.numbers().fronts().gram() ? FrontMethod.AUTO : FrontMethod.HOUSEHOLDER).name();
    long accepted = g.tried() - g.refused();
    return new SolveReport.Gram(method, accepted, g.refused(), g.flops(), g.error());
  }

  private static SolveReport.RankTest rankTest(SolveOptions options, FactorRun made, int[] dead) {
    SolvePlan plan = made.plan().value();
    Condition condition = made.rank().condition();
    return new SolveReport.RankTest(
        plan.numbers().tolerance(),
        toleranceReason(options, made.rank().request()),
        plan.analysis().columns() - dead.length,
        dead.clone(),
        condition.estimate(),
        condition.nearlyDependent());
  }

  /** The origin of the rank tolerance. */
  public static String toleranceReason(SolveOptions options, RankRequest request) {
    if (options.problem().rankTolerance().isPresent()) {
      return "given";
    }
    return request.tolerance().isPresent()
        ? "rounding errors: no gap at the default tolerance, the rank is that of singular values"
        : FactorOptions.DEFAULT_TOLERANCE_RULE;
  }

  /** Warnings about the shuffle of the rows. */
  static List<String> ofRows(FactorRun made) {
    return made.combined().redone() == 0
        ? List.of()
        : List.of(
            "%d batch(es) of combined rows departed from theirs and were sent as they were"
                .formatted(made.combined().redone()));
  }

  private static List<String> warnings(FactorRun made, BasicColumns basic) {
    var warnings = new ArrayList<>(made.course().warnings());
    made.rank().condition().warning().ifPresent(warnings::add);
    basic.warning().ifPresent(warnings::add);
    warnings.addAll(made.totals().summary().warnings());
    differentBlas(made.totals().summary().backend()).ifPresent(warnings::add);
    warnings.addAll(ofRows(made));
    return warnings;
  }

  /**
   * What is to be said if CPUs with kernels of different bits had a part in it.
   *
   * @param backend names of all backends that had
   */
  static Optional<String> differentBlas(String backend) {
    List<String> cpus =
        Arrays.stream(backend.split(" \\+ ", -1)).filter(b -> b.startsWith("cpu: ")).toList();
    // Why it is plain Java may differ, what it computes does not.
    long kinds =
        cpus.stream().map(b -> b.startsWith("cpu: pure Java") ? "Java" : b).distinct().count();
    return kinds < 2
        ? Optional.empty()
        : Optional.of(
            ("executors with different BLAS (%s): the last bits depend on which of them gets which"
                    + " task")
                .formatted(String.join("; ", cpus)));
  }
}
