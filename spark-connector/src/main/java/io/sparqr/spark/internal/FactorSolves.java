/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.internal;

import io.sparqr.numeric.SingletonRows;
import io.sparqr.spark.dependence.BasicColumns;
import io.sparqr.spark.plan.SolveOptions;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.resource.Held;
import io.sparqr.spark.resource.JobScope;
import io.sparqr.spark.rows.RowSource;
import io.sparqr.spark.solve.LevelSolve;
import io.sparqr.spark.solve.Reflection;
import io.sparqr.spark.solve.ResidualPass;
import io.sparqr.spark.solve.RowCopies;
import io.sparqr.spark.solve.SemiNormalEquations;
import java.util.ArrayList;
import java.util.List;

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

  private final FactoredRows rows;
  private final SolveOptions options;
  private final FactorState.Made made;
  private final SolvePlan plan;

  /**
   * The plan for passes over the available rows, without a ridge whose rows are already among them.
   */
  private final SolvePlan ofRows;

  private final SingletonRows singletons;
  private final LevelSolve solve;
  private final RowCopies copies;
  private final SemiNormalEquations equations;

  /**
   * A solution.
   *
   * @param x by right-hand side
   * @param residualNorm ||b - Ax|| of each
   * @param normalResidual the relative residual of the normal equations; NaN: not requested
   * @param notes warnings of this solution
   * @param seconds of the solve; for the factorized right-hand sides without the check
   */
  record Solved(
      double[][] x,
      double[] residualNorm,
      double normalResidual,
      List<String> notes,
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
      FactorState.Made made,
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
  }

  /** Solves with R'R and their corrections. */
  SemiNormalEquations equations() {
    return equations;
  }

  /** For the right-hand sides that were factorized with the rows. */
  Solved stored(BasicColumns basic, JobScope scope, ProgressTracker progress) {
    var watch = new Stopwatch();
    double[][] x = backSubstituted(scope);
    double[] norm = residualNorms(x);
    var notes = new ArrayList<String>();
    int steps = rows.source() == null ? 0 : options.solution().refinement();
    for (int step = 0; step < steps; step++) {
      progress.phase("solve", "step %d of refinement".formatted(step + 1));
      norm = equations.refine(pass(), x, scope);
    }
    if (cancelled(norm, x)) {
      if (rows.source() != null && !rows.ridge().any()) {
        scope.describe("residuals, small beside the ridge's part");
        norm = pass().run(x).ofRows();
      } else {
        notes.add("the residual norm is small beside the ridge's part, and the rows are not there");
      }
    }
    basic.move(plan, x);
    double seconds = watch.lap();
    SolveLog.solve(steps, seconds);
    double normal = Double.NaN;
    boolean wanted = options.solution().check() || options.solution().refinement() > 0;
    if (wanted && rows.source() == null) {
      notes.add("neither refined nor checked: the factorization was loaded, without its rows");
    } else if (options.solution().check()) {
      progress.phase("check", "||A'(b-Ax)||");
      normal = check(x, scope);
    }
    return new Solved(x, norm, normal, List.copyOf(notes), seconds);
  }

  private double[][] backSubstituted(JobScope scope) {
    int width = plan.numbers().rhsCount();
    double[] z = plan.vector(width);
    solve.back(z, width, true, scope);
    singletons.backSubstitute(singletons.rhs(), z, width);
    double[][] x = new double[width][];
    for (int k = 0; k < width; k++) {
      x[k] = plan.unscale(z, k, width, plan.rhsScale(k));
    }
    return x;
  }

  /** The norm of the tail without the contribution of the ridge rows, lambda ||x||^2. */
  private double[] residualNorms(double[][] x) {
    double[] norm = new double[x.length];
    for (int k = 0; k < x.length; k++) {
      norm[k] = plan.withoutRidge(tail(k), x[k]);
    }
    return norm;
  }

  /** ||b - A x|| of the unconstrained solution, the ridge's rows included. */
  double tail(int k) {
    return Math.sqrt(made.totals().residualSquares()[k]) / plan.rhsScale(k);
  }

  /** Whether a norm may consist of rounding errors after subtraction of the ridge's part. */
  private boolean cancelled(double[] norm, double[][] x) {
    boolean any = false;
    for (int k = 0; k < norm.length; k++) {
      any |= norm[k] < CANCELLED * plan.numbers().ridge().norm(x[k]);
    }
    return any;
  }

  /** A pass over the available rows. */
  private ResidualPass pass() {
    return ResidualPass.stored(rows.source(), ofRows, copies);
  }

  /** A pass over the factorized rows with other labels, in the same order. */
  ResidualPass aligned(RowSource labelled) {
    return ResidualPass.aligned(labelled, plan, copies);
  }

  /** R x = Q'b by the kept reflectors, for other labels of the factorized rows. */
  Solved reflected(RowSource labelled, BasicColumns basic, JobScope scope) {
    int steps = options.solution().refinement();
    var way = new Way("further right-hand sides by the kept Q", steps, new Stopwatch());
    equations.forgetNotes();
    var reflection = new Reflection(labelled, made.plan(), made.levels(), made.input().rows());
    Reflection.Result q = reflection.run(scope);
    double[] z = q.c();
    solve.back(z, q.width(), false, scope);
    singletons.backSubstitute(z, z, q.width());
    double[][] x = new double[q.width()][];
    double[] norm = new double[x.length];
    for (int k = 0; k < x.length; k++) {
      x[k] = plan.unscale(z, k, x.length, 1);
      norm[k] = plan.withoutRidge(q.residual()[k], x[k]);
    }
    var found = new SemiNormalEquations.Solution(x, norm);
    try (ResidualPass pass = aligned(labelled)) {
      return corrected(pass, found, way, basic, scope);
    }
  }

  /**
   * By the semi-normal equations, for the labels of a pass.
   *
   * @param why not by reflectors
   */
  Solved semiNormal(ResidualPass pass, String why, BasicColumns basic, JobScope scope) {
    // The semi-normal equations already include one step.
    int steps = Math.max(0, options.solution().refinement() - 1);
    var way = new Way("further right-hand sides " + HOW + ": " + why, steps, new Stopwatch());
    SemiNormalEquations.Solution found =
        equations.solve(pass, made.input().rows(), made.input().frobenius(), scope);
    return corrected(pass, found, way, basic, scope);
  }

  /** The method of a solve for further right-hand sides, further steps, its stopwatch. */
  private record Way(String how, int steps, Stopwatch watch) {}

  /** The steps of refinement and the check that the options request for every solution. */
  private Solved corrected(
      ResidualPass pass,
      SemiNormalEquations.Solution found,
      Way way,
      BasicColumns basic,
      JobScope scope) {
    double[][] x = found.x();
    double[] norm = found.residualNorm();
    for (int step = 0; step < way.steps; step++) {
      norm = equations.refine(pass, x, scope);
    }
    basic.move(plan, x);
    scope.describe(CHECK);
    double normal = options.solution().check() ? pass.check(x) : Double.NaN;
    double seconds = way.watch.total();
    SolveLog.further(way.how, norm, seconds);
    return new Solved(x, norm, normal, equations.notes(way.how), seconds);
  }

  /** Max over the right-hand sides of ||A'(b - Ax)|| / (||A||_F ||b - Ax||). */
  double check(double[][] x, JobScope scope) {
    scope.describe(CHECK);
    return pass().check(x);
  }

  /** A'y for the labels y of a pass over rows of A in any order, one for each right-hand side. */
  double[][] timesTransposed(RowSource labelled) {
    ResidualPass.Sums sums = ResidualPass.further(labelled, plan, RowCopies.NONE).run(null);
    double[][] product = new double[sums.width()][plan.analysis().columns()];
    for (int i = 0; i < sums.gradient().length; i++) {
      int column = i / sums.width();
      product[i % sums.width()][column] = plan.gradient(column, sums.gradient()[i]);
    }
    return product;
  }
}
