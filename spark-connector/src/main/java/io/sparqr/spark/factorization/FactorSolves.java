/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factorization;

import io.sparqr.numeric.Probe;
import io.sparqr.numeric.SingletonRows;
import io.sparqr.spark.condition.BackwardError;
import io.sparqr.spark.condition.ScaledFactor;
import io.sparqr.spark.condition.TailTrust;
import io.sparqr.spark.dependence.BasicColumns;
import io.sparqr.spark.engine.Held;
import io.sparqr.spark.engine.JobScope;
import io.sparqr.spark.observe.ProgressTracker;
import io.sparqr.spark.observe.SolveLog;
import io.sparqr.spark.observe.Stopwatch;
import io.sparqr.spark.plan.SolveOptions;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.report.SolveReport;
import io.sparqr.spark.rows.RowSource;
import io.sparqr.spark.solve.LevelSolve;
import io.sparqr.spark.solve.Refinement;
import io.sparqr.spark.solve.Reflection;
import io.sparqr.spark.solve.ResidualPass;
import io.sparqr.spark.solve.RowCopies;
import io.sparqr.spark.solve.SemiNormalEquations;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The solves with a factorization, for its own right-hand sides and for further ones, with the
 * refinement and the check that its options ask for. Solutions are in the columns that the user's
 * rule keeps.
 */
final class FactorSolves {

  /** The method of further solves without Q, for progress. */
  static final String HOW = "by the corrected semi-normal equations";

  private static final String CHECK = "residuals, for the check of the normal equations";

  /**
   * If sqrt(a^2 - p^2) is below this times p, a pass over the rows is more accurate: 12 digits
   * remain at this limit.
   */
  private static final double CANCELLED = 1e-2;

  /** Relative error of the fraction that a step takes away from the squared norm. */
  private static final double KNOWN_GAIN = 1e-8;

  private static final String UNSEEN =
      "the residual norm is that of Q'b's tail and not exact: x is large beside it, and the rows"
          + " are not there to measure it";

  private final FactoredRows rows;
  private final SolveOptions options;
  private final FactorRun made;
  private final SolvePlan plan;

  /**
   * The plan for passes over the available rows, without a ridge whose rows are already among them.
   */
  private final SolvePlan ofRows;

  private final SingletonRows singletons;
  private final LevelSolve solve;
  private final RowCopies copies;
  private final SemiNormalEquations equations;
  private final TailTrust trust;

  /**
   * A solution.
   *
   * @param x by right-hand side
   * @param residual ||b - Ax|| of each, true of this x; the check, if it was requested
   * @param notes how it was found
   * @param warnings of this solution
   * @param seconds of the solve; for the factorized right-hand sides without the check
   */
  record Solved(
      double[][] x,
      SolveReport.Residual residual,
      List<String> notes,
      List<String> warnings,
      double seconds) {}

  /**
   * Solves with a factorization.
   *
   * @param plan with the ridge of the problem
   * @param held resources with the lifetime of the factorization
   */
  FactorSolves(
      FactoredRows rows,
      SolveOptions options,
      FactorRun made,
      SolvePlan plan,
      LevelSolve solve,
      Held held) {
    this.rows = rows;
    this.options = options;
    this.made = made;
    this.plan = plan;
    this.ofRows = made.plan().value();
    this.singletons = made.driverShare().singletons();
    this.solve = solve;
    this.copies = RowCopies.of(rows.engine(), ofRows);
    held.onClose(copies::close);
    this.equations = new SemiNormalEquations(plan, solve, singletons);
    this.trust = new TailTrust(plan, made.rank().sizes());
  }

  /** Solves with R'R and their corrections. */
  SemiNormalEquations equations() {
    return equations;
  }

  /** For the right-hand sides that were factorized with the rows. */
  Solved stored(BasicColumns basic, JobScope scope, ProgressTracker progress) {
    var watch = new Stopwatch();
    double[][] x = backSubstituted(scope);
    basic.move(plan, x, scope);
    var warnings = new ArrayList<String>();
    int steps = options.solution().refinement();
    boolean there = rows.source().isPresent();
    Norms norms;
    if (steps > 0 && there) {
      progress.phase("solve", "up to %d step(s) of refinement".formatted(steps));
      norms = refined(pass(), x, steps, basic, scope, warnings);
    } else {
      norms = ofTails(x);
      if (!norms.trusted && there) {
        norms = measured(pass(), x, scope);
      } else if (!norms.trusted) {
        warnings.add(UNSEEN);
      }
    }
    if (!norms.trusted || norms.how.equals(SolveReport.Residual.MEASURED_WITH_R)) {
      tellOfReplacedRows(norms, x, warnings);
    }
    double seconds = made.course().seconds().solve() + watch.lap();
    SolveLog.solve(steps, seconds);
    boolean wanted = options.solution().check() || steps > 0;
    if (wanted && !there) {
      warnings.add("neither refined nor checked: the factorization was loaded, without its rows");
    }
    SolveReport.Check check = SolveReport.Check.NONE;
    if (options.solution().check() && there) {
      progress.phase("check", "backward error");
      check = check(x, scope);
    }
    return new Solved(x, norms.residual(check), List.of(), List.copyOf(warnings), seconds);
  }

  /**
   * Norms of residuals.
   *
   * @param how measured, or from the rest of Q'b
   * @param trusted whether they are those of the x that is returned
   */
  private record Norms(double[] of, String how, boolean trusted) {

    SolveReport.Residual residual(SolveReport.Check check) {
      return new SolveReport.Residual(of, how, check);
    }
  }

  /** R's basic solutions. */
  double[][] backSubstituted(JobScope scope) {
    int rhs = plan.numbers().rhsCount();
    Optional<double[]> first = made.first().take();
    int width = first.isPresent() ? made.first().width() : rhs + Probe.COUNT;
    double[] z = first.orElseGet(() -> FirstSolution.stored(plan, solve, singletons, scope));
    double[][] x = new double[rhs][];
    for (int k = 0; k < rhs; k++) {
      x[k] = plan.unscale(z, k, width, plan.rhsScale(k));
    }
    return x;
  }

  /** The norms of the tails without the contribution of the ridge rows, lambda ||x||^2. */
  private Norms ofTails(double[][] x) {
    double[] norm = new double[x.length];
    boolean trusted = true;
    for (int k = 0; k < x.length; k++) {
      norm[k] = plan.withoutRidge(tail(k), x[k]);
      trusted &= believed(norm[k], tail(k), x[k]);
    }
    return new Norms(norm, SolveReport.Residual.TAIL, trusted);
  }

  /** Whether a norm can be believed that was computed from others without a look at x. */
  private boolean believed(double norm, double tail, double[] x) {
    // What is left beside the ridge's part may be nothing but rounding errors.
    return trust.of(norm, tail, x) && !(norm < CANCELLED * plan.numbers().ridge().norm(x));
  }

  private Norms measured(ResidualPass pass, double[][] x, JobScope scope) {
    scope.describe("residuals, since the rest of Q'b does not tell them");
    return measured(pass.measure(x), x);
  }

  private Norms measured(ResidualPass.Sums sums, double[][] x) {
    String how =
        rows.whole() ? SolveReport.Residual.MEASURED : SolveReport.Residual.MEASURED_WITH_R;
    double[] norm = sums.ofRows().clone();
    // The ridge's rows may be among the rows.
    for (int k = 0; rows.ridge().any() && k < norm.length; k++) {
      norm[k] = plan.withoutRidge(sums.residual()[k], x[k]);
    }
    return new Norms(norm, how, true);
  }

  /**
   * Rows of an earlier R stand for its rows only up to rounding errors, by which x is multiplied.
   */
  private void tellOfReplacedRows(Norms norms, double[][] x, List<String> warnings) {
    double error = 0;
    for (int k = 0; !rows.whole() && k < x.length; k++) {
      double own = trust.error(tail(k), x[k]);
      error = TailTrust.small(own, norms.of[k]) ? error : Math.max(error, own);
    }
    if (error > 0) {
      warnings.add(
          ("||b - Ax|| is known only to within %.1e: rows of R stand for earlier rows, and x is"
                  + " large beside b; a factorization of all rows would tell")
              .formatted(error));
    }
  }

  /** Refines solutions in place, as long as that helps. */
  private Norms refined(
      ResidualPass pass,
      double[][] x,
      int steps,
      BasicColumns basic,
      JobScope scope,
      List<String> warnings) {
    var refinement =
        new Refinement(
            equations,
            pass,
            one -> {
              basic.move(plan, new double[][] {one}, scope);
              return one;
            });
    ResidualPass.Sums sums = refinement.run(x, steps, scope);
    if (refinement.takenBack() > 0) {
      warnings.add(
          "%d step(s) of refinement taken back: the residual grew"
              .formatted(refinement.takenBack()));
    }
    return measured(sums, x);
  }

  /** ||b - A x|| of the unconstrained solution, the ridge's rows included. */
  double tail(int k) {
    return Math.sqrt(made.totals().residualSquares()[k]) / plan.rhsScale(k);
  }

  /**
   * ||b - A x|| of other solutions for the right-hand sides of the rows: as given if that can be
   * believed, else measured.
   *
   * @param norm computed from the tails
   * @param tail what they were computed from
   */
  SolveReport.Residual residual(double[][] x, double[] norm, double[] tail, JobScope scope) {
    boolean trusted = true;
    for (int k = 0; k < x.length; k++) {
      trusted &= believed(norm[k], tail[k], x[k]);
    }
    Norms norms =
        trusted || rows.source().isEmpty()
            ? new Norms(norm, SolveReport.Residual.TAIL, trusted)
            : measured(pass(), x, scope);
    return norms.residual(SolveReport.Check.NONE);
  }

  /** A pass over the available rows. */
  private ResidualPass pass() {
    return ResidualPass.stored(rows.source().orElseThrow(), ofRows, copies);
  }

  /** A pass over the factorized rows with other labels, in the same order. */
  ResidualPass aligned(RowSource labelled) {
    return ResidualPass.aligned(labelled, plan, copies);
  }

  /** R x = Q'b by the kept reflectors, for other labels of the factorized rows. */
  Solved reflected(RowSource labelled, BasicColumns basic, JobScope scope) {
    var way = new Way("further right-hand sides by the kept Q", 0, new Stopwatch());
    equations.forgetNotes();
    var reflection = new Reflection(labelled, made.plan(), made.levels(), made.input().rows());
    Reflection.Result q = reflection.run(scope);
    double[] z = q.c();
    solve.back(z, q.width(), scope);
    singletons.backSubstitute(z, z, q.width());
    double[][] x = new double[q.width()][];
    double[] norm = new double[x.length];
    boolean trusted = true;
    for (int k = 0; k < x.length; k++) {
      x[k] = plan.unscale(z, k, x.length, 1);
    }
    basic.move(plan, x, scope);
    for (int k = 0; k < x.length; k++) {
      norm[k] = plan.withoutRidge(q.residual()[k], x[k]);
      trusted &= believed(norm[k], q.residual()[k], x[k]);
    }
    var norms = new Norms(norm, SolveReport.Residual.TAIL, trusted);
    return corrected(aligned(labelled), x, norms, way, basic, scope);
  }

  /**
   * By the semi-normal equations, for the labels of a pass.
   *
   * @param why not by reflectors
   */
  Solved semiNormal(ResidualPass pass, String why, BasicColumns basic, JobScope scope) {
    // The semi-normal equations already include one step.
    var way = new Way("further right-hand sides " + HOW + ": " + why, 1, new Stopwatch());
    SemiNormalEquations.First found =
        equations.solve(pass, made.input().rows(), made.input().frobenius(), scope);
    basic.move(plan, found.x(), scope);
    return corrected(pass, found.x(), afterStep(found), way, basic, scope);
  }

  /** The norms after the step of refinement of the semi-normal equations. */
  private Norms afterStep(SemiNormalEquations.First found) {
    double condition = made.rank().condition().estimate();
    // R'R dx = A'r to eps cond^2; a step that takes away little is known well enough anyway.
    double error = Math.min(1, 100 * Math.ulp(1.0) * condition * condition);
    double[] norm = new double[found.x().length];
    boolean trusted = true;
    for (int k = 0; k < norm.length; k++) {
      double gain = found.step().gain()[k];
      double whole = found.step().residual()[k] * Math.sqrt(1 - gain);
      norm[k] = plan.withoutRidge(whole, found.x()[k]);
      trusted &= error * gain <= KNOWN_GAIN * (1 - gain) && believed(norm[k], whole, found.x()[k]);
    }
    return new Norms(norm, SolveReport.Residual.TAIL, trusted);
  }

  /** The method of a solve for further right-hand sides, steps that are in it, its stopwatch. */
  private record Way(String how, int steps, Stopwatch watch) {}

  /** The steps of refinement and the check that the options request for every solution. */
  private Solved corrected(
      ResidualPass pass, double[][] x, Norms found, Way way, BasicColumns basic, JobScope scope) {
    var warnings = new ArrayList<String>();
    int steps = options.solution().refinement() - way.steps;
    Norms norms = found;
    if (steps > 0) {
      norms = refined(pass, x, steps, basic, scope, warnings);
    } else if (!norms.trusted) {
      norms = measured(pass, x, scope);
    }
    SolveReport.Check check =
        options.solution().check() ? check(pass, x, scope) : SolveReport.Check.NONE;
    double seconds = way.watch.total();
    SolveLog.further(way.how, norms.of, seconds);
    return new Solved(x, norms.residual(check), equations.notes(way.how), warnings, seconds);
  }

  /** The backward error of solutions for the right-hand sides of the rows. */
  SolveReport.Check check(double[][] x, JobScope scope) {
    return check(pass(), x, scope);
  }

  private SolveReport.Check check(ResidualPass pass, double[][] x, JobScope scope) {
    scope.describe(CHECK);
    var r = new ScaledFactor(plan, solve, singletons, made.rank().sizes(), scope);
    BackwardError e = BackwardError.of(pass, x, plan, made.rank().sizes(), r);
    return new SolveReport.Check(e.normalResidual(), e.normwise(), e.componentwise(), e.verdict());
  }

  /** A'y for the labels y of a pass over rows of A in any order, one for each right-hand side. */
  double[][] timesTransposed(RowSource labelled) {
    ResidualPass.Sums sums = ResidualPass.further(labelled, plan, RowCopies.none()).run(null);
    double[][] product = new double[sums.width()][plan.analysis().columns()];
    for (int i = 0; i < sums.gradient().length; i++) {
      int column = i / sums.width();
      product[i % sums.width()][column] = plan.gradient(column, sums.gradient()[i]);
    }
    return product;
  }
}
