/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.pipeline;

import io.sparqr.backend.BackendChoice;
import io.sparqr.backend.FrontMethod;
import io.sparqr.error.DiskFullException;
import io.sparqr.numeric.SingletonRows;
import io.sparqr.partition.MachineBound;
import io.sparqr.partition.TreePartition;
import io.sparqr.spark.cluster.ClusterResources;
import io.sparqr.spark.cluster.ExecutorWait;
import io.sparqr.spark.condition.ColumnSizes;
import io.sparqr.spark.condition.RankRequest;
import io.sparqr.spark.condition.RankReview;
import io.sparqr.spark.condition.ScaledFactor;
import io.sparqr.spark.device.DeviceOpening;
import io.sparqr.spark.device.DeviceRule;
import io.sparqr.spark.engine.Engine;
import io.sparqr.spark.engine.Foreground;
import io.sparqr.spark.engine.Held;
import io.sparqr.spark.engine.JobScope;
import io.sparqr.spark.engine.SparkErrors;
import io.sparqr.spark.exchange.PlanHandle;
import io.sparqr.spark.factor.FactorLevels;
import io.sparqr.spark.factor.FactorTotals;
import io.sparqr.spark.factor.TaskReport;
import io.sparqr.spark.factor.TaskSolution;
import io.sparqr.spark.factorization.Attempt;
import io.sparqr.spark.factorization.Earlier;
import io.sparqr.spark.factorization.FactorInput;
import io.sparqr.spark.factorization.FactorRank;
import io.sparqr.spark.factorization.FactorReport;
import io.sparqr.spark.factorization.FactorRun;
import io.sparqr.spark.factorization.FactorState;
import io.sparqr.spark.factorization.FactoredRows;
import io.sparqr.spark.factorization.FirstSolution;
import io.sparqr.spark.observe.Known;
import io.sparqr.spark.observe.Profiler;
import io.sparqr.spark.observe.ProgressTracker;
import io.sparqr.spark.observe.RunRecords;
import io.sparqr.spark.observe.SolveLog;
import io.sparqr.spark.observe.Stopwatch;
import io.sparqr.spark.observe.Times;
import io.sparqr.spark.pattern.PatternPass;
import io.sparqr.spark.plan.DeviceVerdict;
import io.sparqr.spark.plan.Fingerprint;
import io.sparqr.spark.plan.SolveOptions;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.report.FailureReport;
import io.sparqr.spark.report.LeastSquaresSolution;
import io.sparqr.spark.report.ProgressListener;
import io.sparqr.spark.rows.HeldRows;
import io.sparqr.spark.rows.RowSource;
import io.sparqr.spark.solve.LevelSolve;
import io.sparqr.spark.solve.NormSum;
import io.sparqr.spark.solve.Norms;
import io.sparqr.spark.solve.SolveInTask;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicOptions;
import io.sparqr.symbolic.TileModel;
import io.sparqr.threads.Later;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The data flow from rows to a factorization: pattern, analysis, cut, broadcast, rows to the tasks
 * of their fronts, levels. A failure leaves nothing behind on the cluster.
 */
public final class Pipeline {

  private final RowSource source;
  private final SolveOptions options;
  private final ProgressListener listener;
  private final Earlier earlier;

  /** Whether only the solution is wanted. */
  private final boolean once;

  private final Engine engine;
  private final Held held = new Held();

  /** Rows that the first reading left. */
  private Optional<HeldRows> left = Optional.empty();

  private final DeviceOpening opening;
  private final Times times;
  private final Known known = new Known();
  private final DiskNeed disk;

  /** Empty if no profile was requested. */
  private final Optional<Profiler> profiler;

  private final Stopwatch watch;
  private final List<String> warnings = new ArrayList<>();

  /** What the review of an earlier factorization asks of this one. */
  private final RankRequest request;

  /** The options with what the request changes in them. */
  private final SolveOptions asked;

  private final AnalysisStep analyses;
  private final PlanStep plans;
  private final RowStep sending;

  private Pipeline(
      RowSource source,
      SolveOptions options,
      ProgressListener listener,
      Earlier earlier,
      boolean once,
      Attempt attempt) {
    this.request = attempt.request;
    this.asked = attempt.asked(options);
    this.times = attempt.times;
    this.watch = attempt.watch;
    this.once = once;
    this.source = source;
    this.earlier = earlier;
    this.options = options;
    this.listener = listener;
    this.engine = source.engine();
    this.opening = new DeviceOpening(engine);
    this.disk = new DiskNeed(engine);
    this.analyses = new AnalysisStep(engine, asked, opening, warnings);
    this.plans = new PlanStep(source, asked, earlier, request, warnings);
    this.sending = new RowStep(source, once, held);
    this.profiler =
        options.factorization().profile() ? Optional.of(new Profiler()) : Optional.empty();
  }

  /**
   * The decision on devices that a solve would reach, for predictions without a solve.
   *
   * @param known whether the devices of this JVM are all that there are; if not, the threshold
   *     alone decides
   */
  public static DeviceVerdict foretold(
      BackendChoice backend, boolean known, SymbolicAnalysis analysis) {
    return DeviceRule.of(backend, known).verdict(analysis.flops(), analysis.intensity());
  }

  /** Steps 1 to 6; the caller must close the result. */
  public static FactorState factorize(
      RowSource source, SolveOptions options, ProgressListener listener) {
    return factorize(source, options, listener, Earlier.NONE);
  }

  /** Factorizes and solves for the rows' right-hand sides; nothing is left on the cluster. */
  public static LeastSquaresSolution solve(
      RowSource source, SolveOptions options, ProgressListener listener) {
    try (var f = run(source, options, listener, Earlier.NONE, true)) {
      return f.solve();
    }
  }

  /** As above, for new rows followed by rows of R that replace earlier ones. */
  public static FactorState factorize(
      RowSource source, SolveOptions options, ProgressListener listener, Earlier earlier) {
    return run(source, options, listener, earlier, false);
  }

  /** Factorizes as often as the review of the rank asks for. */
  private static FactorState run(
      RowSource source,
      SolveOptions options,
      ProgressListener listener,
      Earlier earlier,
      boolean once) {
    var first = new Attempt();
    Result result = run(new Pipeline(source, options, listener, earlier, once, first), first);
    while (result instanceof Again again) {
      Attempt next = again.next;
      // A solution alone is no longer enough: the next review may have to look at R.
      result = run(new Pipeline(source, options, listener, earlier, false, next), next);
    }
    return ((Stands) result).state;
  }

  /** A factorization that stands, or the next attempt. */
  private sealed interface Result {}

  private record Stands(FactorState state) implements Result {}

  private record Again(Attempt next) implements Result {}

  private static Result run(Pipeline pipeline, Attempt attempt) {
    Engine engine = pipeline.engine;
    Foreground.enter();
    boolean made = false;
    try (var scope = new JobScope(engine);
        var progress =
            new ProgressTracker(engine, pipeline.listener, scope.group(), pipeline.profiler, 0)) {
      Result result = pipeline.logged(attempt, scope, progress);
      made = result instanceof Stands;
      return result;
    } finally {
      pipeline.opening.close();
      if (!made) {
        pipeline.held.close();
      }
    }
  }

  private Result logged(Attempt attempt, JobScope scope, ProgressTracker progress) {
    try {
      return run(attempt, scope, progress);
    } catch (Throwable thrown) {
      Throwable e = thrown instanceof DiskFullException full ? disk.in(full) : thrown;
      times.failed(progress.current(), watch.lap());
      times.total = watch.total();
      Known.tell(
          listener,
          new FailureReport(progress.current(), known.figures(warnings), times.seconds(), e));
      throw SparkErrors.<RuntimeException>sneaky(e);
    }
  }

  /**
   * A plan, and the rows being shuffled to its tasks.
   *
   * @param workers how many of the workers are used, and why; empty if there was no choice
   */
  private record Prepared(
      FactorInput input,
      PlanHandle plan,
      ClusterResources resources,
      MachineBound machine,
      String workers,
      RowStep.Sent rows,
      ExecutorWait.Outcome waited,
      ColumnSizes sizes) {}

  private Result run(Attempt attempt, JobScope scope, ProgressTracker progress) {
    // The pattern becomes garbage when this returns.
    Prepared p = prepare(scope, progress);
    SolvePlan plan = p.plan.value();
    disk.factor(plan);
    disk.requireHeap(p.rows.rows().heap());
    var levels =
        new FactorLevels(
            engine,
            p.plan,
            p.resources,
            held,
            p.rows.rows(),
            p.rows.parts(),
            profiler.isPresent(),
            solution(plan),
            top(plan));
    Foreground.work();
    // Its tiles take milliseconds to count, which the driver has while the tasks work.
    TileModel tiles = plan.numbers().fronts().tuned().tuning().tiles();
    int rhs = plan.numbers().rhsCount();
    var bound = new Later<>(() -> p.machine.seconds(plan.analysis(), rhs, tiles));
    bound.begin();
    List<TaskReport> reports;
    try (var working = progress.working(levels.work(), plan.analysis().flops())) {
      reports =
          levels.factorize(
              options.factorization().storageLevel(),
              scope,
              what -> working.phase("factorize", what));
      working.complete();
    }
    times.factorize += watch.lap();
    profiler.ifPresent(q -> q.factored(plan, p.resources.model(), levels.profiles()));
    times.total = watch.total();
    FactorTotals totals = FactorTotals.of(reports, p.rows.driver().residualSquares());
    SolveLog.factorize(totals.summary(), plan.partition().estimatedSeconds(), times.factorize);
    var solve = new LevelSolve(p.plan, levels);
    SingletonRows singletons = p.rows.driver().singletons();
    FirstSolution first = FirstSolution.of(plan, solve, singletons, levels.solved(), scope);
    Optional<RankReview.Outcome> seen = review(p, totals, first, solve, levels.solved(), scope);
    times.solve += watch.lap();
    if (seen.isEmpty()) {
      return new Again(attempt.next(request, plan.analysis()));
    }
    RankReview.Outcome outcome = seen.get();
    if (outcome.again().isPresent()) {
      return new Again(attempt.next(outcome.again().get(), plan.analysis()));
    }
    warnings.addAll(outcome.warnings());
    times.total = watch.total();
    var made =
        new FactorRun(
            p.input,
            p.plan,
            new FactorRun.Factor(levels, p.rows.driver(), p.rows.combined(), totals, solve),
            first,
            new FactorRank(request, outcome.condition(), p.sizes),
            new FactorRun.Course(
                times.seconds(),
                p.waited,
                scope.group(),
                List.copyOf(warnings),
                p.workers.isEmpty() ? List.of() : List.of(p.workers),
                bound.get(),
                profiler));
    return new Stands(
        new FactorState(FactoredRows.of(source, earlier), options, listener, held, made));
  }

  /**
   * Reviews the rank.
   *
   * @param solved whether R is gone: its tasks have solved
   * @return empty if R is gone and must be looked at
   */
  private Optional<RankReview.Outcome> review(
      Prepared p,
      FactorTotals totals,
      FirstSolution first,
      LevelSolve solve,
      boolean solved,
      JobScope scope) {
    SolvePlan plan = p.plan.value();
    boolean decides = plan.numbers().equilibrated() && options.problem().rankTolerance().isEmpty();
    boolean unit = p.sizes.ofCaller().isEmpty();
    Supplier<double[]> probe =
        () -> {
          double[] v = first.probe();
          p.sizes.scale(plan, v, 1);
          return v;
        };
    double norm = unit ? first.probeNorm() : Norms.norm(probe.get(), 0, plan.analysis().columns());
    var found =
        new RankReview.Found(totals.dead(), totals.summary().droppedNorm(), norm, probe, decides);
    var review = new RankReview(plan.analysis(), request, found);
    if (solved) {
      return review.clearEnough() ? Optional.of(review.unseen()) : Optional.empty();
    }
    if (review.clear()) {
      return Optional.of(review.unseen());
    }
    scope.describe("smallest singular values of R");
    SingletonRows singletons = p.rows.driver().singletons();
    return Optional.of(review.of(new ScaledFactor(plan, solve, singletons, p.sizes, scope)));
  }

  /**
   * How tasks solve at once: if nothing but x is wanted, and every task has whole trees.
   * Refinement, the check and a choice of the dependent columns need R later.
   */
  private Optional<TaskSolution> solution(SolvePlan plan) {
    boolean only =
        once
            && plan.partition().levels() == 1
            && options.solution().refinement() == 0
            && !options.solution().check()
            && !options.factorization().keepQ()
            && !options.problem().dropping().by();
    return only ? Optional.of(SolveInTask.of(plan)) : Optional.empty();
  }

  /**
   * How the tasks of the highest of several levels solve at once, with R kept: they have no columns
   * outside, so that nothing else is needed, and a stage is spared.
   */
  private static Optional<TaskSolution> top(SolvePlan plan) {
    return plan.partition().levels() > 1 && FirstSolution.fits(plan)
        ? Optional.of(SolveInTask.WITH_PROBE)
        : Optional.empty();
  }

  private Prepared prepare(JobScope scope, ProgressTracker progress) {
    progress.phase("pattern", "row checks, distinct row patterns");
    // Problems detectable without a job are checked first, to avoid stack traces of failed tasks.
    ClusterResources.check(engine);
    DeviceRule rule = DeviceRule.of(options.factorization().backend(), engine);
    rule.settled().ifPresent(opening::consider);
    scope.describe("pattern and column norms");
    PatternPass.Result found = read();
    times.pattern += watch.lap();
    SolveLog.pattern(found, times.pattern);
    known.pattern(found);
    options.problem().ridge().requireColumns(found.columns());
    disk.rows(found);
    SymbolicOptions symbolic = asked.analysis().symbolic().withRhs(found.rhs().count());
    Optional<DeviceVerdict> processors = rule.settled().filter(verdict -> !verdict.use());
    if (options.factorization().method() == FrontMethod.AUTO
        && !options.factorization().keepQ()
        && processors.isPresent()) {
      symbolic = symbolic.withGram(analyses.gramBytes(processors.get()));
    }
    while (true) {
      progress.phase("analyze", "ordering and symbolic analysis");
      SymbolicAnalysis analysis = analyses.of(found, symbolic, rule::verdict);
      profile(found, analysis);
      if (analysis.singletons() == 0) {
        // There are no singletons that could prove too small, so the pattern need not be analyzed
        // again.
        found = found.analyzed();
      }
      double order =
          asked.analysis().known().filter(analysis::equals).isPresent()
              ? 0
              : analysis.data().orderSeconds();
      times.order += order;
      double analyze = watch.lap() - order;
      times.analyze += analyze;
      SolveLog.ordering(analysis, order, analyze);
      known.analysis(analysis, FactorReport.orderingReason(options, analysis));
      ExecutorWait.Outcome waited = executors(scope, progress);
      progress.phase("plan", "cut of the tree");
      DeviceVerdict devices = rule.verdict(analysis.flops(), analysis.intensity());
      opening.consider(devices);
      ClusterResources present =
          ClusterResources.probe(engine, options.cut().workers().orElse(0), devices);
      ClusterResources.Planned planned = plans.cut(analysis, found, present);
      ClusterResources resources = planned.resources();
      PlanHandle plan = PlanHandle.of(engine, plans.of(found, planned, devices));
      held.onClose(plan::release);
      double seconds = watch.lap();
      times.plan += seconds;
      TreePartition cut = plan.value().partition();
      SolveLog.cut(cut, planned.workers(), planned.reason(), seconds);
      known.cut(
          cut, plan.value().numbers().tolerance(), FactorReport.toleranceReason(options, request));
      progress.phase("rows", "rows to the tasks of their fronts");
      scope.describe("rows to the tasks of their fronts");
      RowStep.Sent rows = sending.send(plan, resources, found, left);
      double assembled = watch.lap();
      times.assemble += assembled;
      SolveLog.rows(assembled);
      int[] bad = rows.driver().singletons().tinyPivots(plan.value().numbers().tolerance());
      if (bad.length == 0) {
        left.ifPresent(HeldRows::close);
        return new Prepared(
            input(found),
            plan,
            resources,
            present.bound(),
            planned.reason(),
            rows,
            waited,
            sizes(found));
      }
      symbolic = symbolic.withNotSingletons(analyses.barred(symbolic, analysis, bad));
      if (found.patterns().print().isPresent()) {
        // The given analysis does not serve after all, and for another the patterns are needed.
        progress.phase("pattern", "distinct row patterns");
        scope.describe("pattern and column norms");
        found = new PatternPass(source, options).run();
        times.pattern += watch.lap();
      }
    }
  }

  /**
   * The first reading. With the analysis of its pattern given, the patterns need not be
   * distinguished: a fingerprint proves that it is theirs. A profile shows the pattern, so it takes
   * the full pass. Rows are left for the step that sends them to their tasks; by executors only
   * where they keep no patterns.
   */
  private PatternPass.Result read() {
    var pass = new PatternPass(source, options);
    Optional<SymbolicAnalysis> given = asked.analysis().known();
    if (given.isPresent() && profiler.isEmpty()) {
      leave(HeldRows.of(engine));
      PatternPass.Result figures = pass.figures(left.orElse(null));
      if (given.get().isOf(figures.patterns().print().orElseThrow())) {
        return figures;
      }
      left.ifPresent(HeldRows::close);
    }
    leave(HeldRows.here(engine));
    return pass.run(left.orElse(null));
  }

  private void leave(Optional<HeldRows> where) {
    left = where;
    left.ifPresent(rows -> held.onClose(rows::close));
  }

  private void profile(PatternPass.Result found, SymbolicAnalysis analysis) {
    profiler.ifPresent(p -> p.analyzed(found.patterns().whole(), analysis));
  }

  /** The norms of R's columns, unless they are 1. */
  private ColumnSizes sizes(PatternPass.Result found) {
    if (options.problem().equilibrate()) {
      return ColumnSizes.UNIT;
    }
    double[] norm = found.norm().clone();
    for (int j = 0; options.problem().ridge().any() && j < norm.length; j++) {
      norm[j] = Math.hypot(norm[j], Math.sqrt(options.problem().ridge().of(j)));
    }
    return new ColumnSizes(Optional.of(norm));
  }

  private FactorInput input(PatternPass.Result found) {
    var squares = new NormSum();
    squares.add(options.problem().ridge().frobenius(found.columns()));
    for (double norm : found.norm()) {
      squares.add(norm);
    }
    Fingerprint counted = earlier.counted(found);
    return new FactorInput(
        counted.rows(), counted.nonzeros(), squares.norm(), found.shuffleBytes());
  }

  /** Waits for the executors for which the tree is cut. */
  private ExecutorWait.Outcome executors(JobScope scope, ProgressTracker progress) {
    ExecutorWait.Outcome waited =
        ExecutorWait.await(
            engine,
            options.cut(),
            (wanted, there) -> {
              scope.describe("waiting for executors");
              progress.phase("executors", "%d of %d are there".formatted(there, wanted));
            });
    known.executors(waited, engine, RunRecords.of(engine, watch.total(), options));
    SolveLog.executors(waited);
    waited.warning().ifPresent(warnings::add);
    return waited;
  }
}
