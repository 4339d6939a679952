/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.problem;

import io.sparqr.error.RankDeficientException;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.spark.engine.Held;
import io.sparqr.spark.engine.JobScope;
import io.sparqr.spark.factorization.FactorState;
import io.sparqr.spark.model.RankPolicy;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.observe.Known;
import io.sparqr.spark.observe.Stopwatch;
import io.sparqr.spark.observe.Times;
import io.sparqr.spark.observe.ToldOnce;
import io.sparqr.spark.pipeline.Pipeline;
import io.sparqr.spark.plan.SolveOptions;
import io.sparqr.spark.report.FailureReport;
import io.sparqr.spark.report.LeastSquaresSolution;
import io.sparqr.spark.report.ProgressListener;
import io.sparqr.spark.report.SolveReport;
import io.sparqr.spark.rows.RowSource;
import io.sparqr.spark.solve.SemiNormalEquations;
import io.sparqr.symbolic.SymbolicOptions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.api.java.JavaRDD;

/**
 * The minimizer of ||b - A x|| with the least 2-norm.
 *
 * <p>For a wide system of full row rank: A'P = QR, x = A'z with R'R P'z = P'b (the semi-normal
 * equations of A' without Q; Bjorck and Paige 1994), refined as long as that helps. A shuffle of
 * A's entries yields the transpose; the m values of b are on the driver.
 *
 * <p>For any other rank-deficient problem: AP = QR first. The rank rows of R form a wide system of
 * full row rank, and its minimum-norm solution is the one of the problem (a complete orthogonal
 * decomposition; Golub and Van Loan, Matrix Computations, section 5.5).
 */
public final class MinimumNorm {

  /**
   * Limit of ||b - A x|| / ||b||: far above the refined residual of a system of full row rank, and
   * far below that of any other.
   */
  private static final double MOST_LEFT = 1e-8;

  private final SolveOptions options;
  private final ProgressListener listener;
  private final JavaRDD<SparseRow> rows;

  private MinimumNorm(JavaRDD<SparseRow> rows, SolveOptions options, ProgressListener listener) {
    this.rows = rows;
    this.options = options;
    this.listener = listener;
  }

  /**
   * Solves; for a problem of full column rank this is the usual, unique solution.
   *
   * @throws RankDeficientException if the problem is rank-deficient and the options ask for an
   *     error then
   */
  public static LeastSquaresSolution solve(
      RowSource source, SolveOptions options, ProgressListener listener) {
    var once = new ToldOnce(listener);
    var watch = new Stopwatch();
    try {
      return solved(source, options, once);
    } catch (Throwable e) {
      if (!once.told()) {
        var times = new Times();
        times.failed("solve", watch.total());
        times.total = watch.total();
        Known.tell(
            listener,
            new FailureReport("solve", Map.of("warnings", List.of()), times.seconds(), e));
      }
      throw e;
    }
  }

  private static LeastSquaresSolution solved(
      RowSource source, SolveOptions options, ProgressListener listener) {
    try (var scope = new JobScope(source.context())) {
      if (options.problem().rankPolicy() == RankPolicy.FAIL) {
        // The result is an error with the rank, or full column rank and thus a unique solution.
        return ofAnyRank(source, options, listener);
      }
      scope.describe("minimum-norm solution by the transpose");
      return new MinimumNorm(source.rows(), options, listener)
          .wide()
          .orElseGet(() -> ofAnyRank(source, options, listener));
    }
  }

  private static LeastSquaresSolution ofAnyRank(
      RowSource source, SolveOptions options, ProgressListener listener) {
    try (FactorState state = Pipeline.factorize(source, options, listener)) {
      LeastSquaresSolution basic = state.solve();
      if (basic.rank() == state.analysis().columns() || basic.rank() == 0) {
        return basic;
      }
      var watch = new Stopwatch();
      // R's rows are independent by the rank test of A; a second test could only contradict it.
      SolveOptions factor =
          options
              .with(options.input().withColumns(state.analysis().columns()))
              .with(options.problem().withRankTolerance(-1).withEquilibrate(true))
              .with(options.solution().withRefinement(0).withCheck(false).withMinRcond(0))
              .with(ofAnother(options));
      Optional<LeastSquaresSolution> found =
          new MinimumNorm(state.factorRows().rows(), factor, listener).wide();
      if (found.isEmpty()) {
        return new LeastSquaresSolution(
                basic.solutions(),
                basic.residualNorms(),
                basic.rank(),
                basic.deadColumns(),
                LeastNormReport.kept(basic.report(), watch.total()))
            .requireFinite();
      }
      LeastSquaresSolution least = found.get();
      // The residual of R x = c adds to the part of b outside the range of A.
      double[] norms = basic.residualNorms().clone();
      for (int k = 0; k < norms.length; k++) {
        norms[k] = Math.hypot(norms[k], least.residualNorms()[k]);
      }
      double[] tails = new double[norms.length];
      for (int k = 0; k < norms.length; k++) {
        tails[k] = state.tail(k);
      }
      SolveReport.Residual residual = state.residual(least.solutions(), norms, tails);
      if (options.solution().check()) {
        residual = residual.withCheck(state.check(least.solutions()));
      }
      return new LeastSquaresSolution(
              least.solutions(),
              residual.residualNorm(),
              basic.rank(),
              basic.deadColumns(),
              LeastNormReport.ofTwo(basic.report(), least.report(), residual, watch.total()))
          .requireFinite();
    }
  }

  /**
   * Empty if the matrix is not wide, or does not have full row rank: either by the rank test, or
   * because the solution does not satisfy its equations (a pivot of rounding errors may pass the
   * test if an earlier one was small).
   */
  private Optional<LeastSquaresSolution> wide() {
    var watch = new Stopwatch();
    WideRows found = WideRows.scan(rows, options.input().columns().orElse(-1));
    if (!found.wide()) {
      return Optional.empty();
    }
    double[][] b = found.rightHandSides();
    try (var held = new Held()) {
      // Without equilibration the tolerance is absolute, in the caller's units: no scaling then.
      int exponent = options.problem().equilibrate() ? found.exponent() : 0;
      var transposed =
          new TransposedRows(
              rows,
              options.input().columns().orElse(-1),
              found.readings(),
              found.columns(),
              b.length,
              exponent,
              held);
      return solve(transposed, b, watch).filter(s -> left(s, b) <= MOST_LEFT);
    }
  }

  /** Max over the right-hand sides of ||b - A x|| / ||b||. */
  private static double left(LeastSquaresSolution s, double[][] b) {
    double most = 0;
    for (int k = 0; k < b.length; k++) {
      double norm = 0;
      for (double e : b[k]) {
        norm = Math.hypot(norm, e);
      }
      most = Math.max(most, norm == 0 ? 0 : s.residualNorms()[k] / norm);
    }
    return most;
  }

  private Optional<LeastSquaresSolution> solve(
      TransposedRows transposed, double[][] b, Stopwatch watch) {
    int m = transposed.rows();
    SolveOptions ofTranspose =
        options
            .with(options.input().withColumns(m))
            .with(options.problem().withRankPolicy(RankPolicy.REPORT))
            .with(options.solution().withMinRcond(0))
            .with(ofAnother(options));
    try (FactorState state = Pipeline.factorize(transposed.source(), ofTranspose, listener)) {
      if (state.rank() < m) {
        return Optional.empty();
      }
      // Scaled by powers of two, because (R'R)^-1 b would easily leave the range of doubles in the
      // caller's units.
      double[][] scaled = new double[b.length][];
      int[] exponent = new int[b.length];
      for (int k = 0; k < b.length; k++) {
        exponent[k] = TransposedRows.exponent(b[k], b[k].length, -TransposedRows.MOST_EXPONENT);
        scaled[k] = scaled(b[k], -exponent[k]);
      }
      SemiNormalEquations.Solution s =
          state.leastNorm(scaled, transposed.products(state::timesTransposed));
      double[][] x = new double[b.length][];
      double[] norm = new double[b.length];
      for (int k = 0; k < b.length; k++) {
        x[k] = scaled(s.x()[k], exponent[k] - transposed.exponent());
        norm[k] = Math.scalb(s.residualNorm()[k], exponent[k]);
      }
      SolveReport report =
          LeastNormReport.ofTranspose(state.report(), m, transposed.columns(), norm, watch.total())
              .withWarnings(withoutEffect());
      return Optional.of(new LeastSquaresSolution(x, norm, m, new int[0], report).requireFinite());
    }
  }

  /** The caller's column order and analysis concern A; they do not apply to A'. */
  private static SolveOptions.Analysis ofAnother(SolveOptions options) {
    SymbolicOptions symbolic = options.analysis().symbolic();
    return new SolveOptions.Analysis(
        symbolic.given().isPresent() ? symbolic.withOrdering(OrderingMethod.AUTO) : symbolic,
        Optional.empty());
  }

  /** Warnings for options without effect on a consistent system solved by a factorization of A'. */
  private List<String> withoutEffect() {
    var notes = new ArrayList<String>();
    if (options.solution().check()) {
      notes.add("check: not measured, b - Ax is nothing but rounding errors");
    }
    if (options.analysis().known().isPresent()) {
      notes.add("the given analysis is not that of A', which was factorized: analyzed again");
    }
    if (options.analysis().symbolic().given().isPresent()) {
      notes.add("the given permutation is not one of the columns of A', which was factorized");
    }
    return notes;
  }

  private static double[] scaled(double[] v, int exponent) {
    return Arrays.stream(v).map(e -> Math.scalb(e, exponent)).toArray();
  }
}
