/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.problem;

import io.sparqr.spark.factorization.Earlier;
import io.sparqr.spark.factorization.FactorState;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.pipeline.Pipeline;
import io.sparqr.spark.plan.Ridge;
import io.sparqr.spark.plan.SolveOptions;
import io.sparqr.spark.report.LeastSquaresSolution;
import io.sparqr.spark.report.ProgressListener;
import io.sparqr.spark.report.SolveReport;
import io.sparqr.spark.rows.RowSource;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.List;
import java.util.Optional;
import org.apache.spark.api.java.JavaRDD;

/**
 * Ridge solutions for many lambdas from one factorization of A: [A; sqrt(lambda) I] and [R;
 * sqrt(lambda) I] have the same R. The choice between [R; ...] and A depends on the flops of two
 * analyses: those of [R; sqrt(lambda) I], known after the first lambda, and those of A alone, which
 * are at most those of [A; sqrt(lambda) I].
 */
public final class RidgePath {

  private final RowSource source;
  private final SolveOptions options;
  private final ProgressListener listener;
  private final Ridge penalty;

  /** The analysis that serves all lambdas. */
  private Optional<SymbolicAnalysis> known = Optional.empty();

  private boolean ofRows;
  private double flopsOfR;

  /** The path for these rows; a ridge in the options is the penalty that the lambdas multiply. */
  public RidgePath(RowSource source, SolveOptions options, ProgressListener listener) {
    this.source = source;
    this.listener = listener;
    this.penalty = options.problem().ridge();
    this.options =
        options
            .with(options.problem().withRidge(Ridge.NONE))
            .with(options.factorization().withKeepQ(false));
  }

  /** One solution for each lambda. */
  public List<LeastSquaresSolution> solve(double[] lambdas) {
    Ridge[] ridge = new Ridge[lambdas.length];
    for (int k = 0; k < lambdas.length; k++) {
      // Also rejects lambdas out of range.
      ridge[k] = Ridge.of(lambdas[k]).any() ? penalty.times(lambdas[k]) : Ridge.NONE;
    }
    var solutions = new LeastSquaresSolution[lambdas.length];
    try (FactorState alone = Pipeline.factorize(source, options, listener)) {
      JavaRDD<SparseRow> r = withTail(alone);
      for (int k = 0; k < lambdas.length; k++) {
        solutions[k] = ridge[k].any() ? solve(alone, r, ridge[k]) : alone.solve();
      }
    }
    return List.of(solutions);
  }

  /**
   * R and Q'b, and a row without entries with the norms of the right-hand sides outside the range
   * of R as labels.
   */
  private JavaRDD<SparseRow> withTail(FactorState alone) {
    int width = alone.report().matrix().rhs();
    double[] tail = new double[width];
    for (int k = 0; k < width; k++) {
      tail[k] = alone.tail(k);
    }
    var row = new SparseRow(new int[0], new double[0], tail, 1, alone.analysis().columns());
    return alone.factorRows().rows().union(source.context().parallelize(List.of(row), 1));
  }

  private LeastSquaresSolution solve(FactorState alone, JavaRDD<SparseRow> r, Ridge ridge) {
    SolveReport.Matrix m = alone.report().matrix();
    SolveOptions o =
        options
            .with(options.input().withColumns(m.columns()))
            .with(options.problem().withRidge(ridge))
            .with(options.analysis().withKnown(known));
    FactorState state =
        ofRows
            ? Pipeline.factorize(source, o, listener)
            : Pipeline.factorize(
                RowSource.of(r), o, listener, new Earlier(0, m.rows(), m.nonzeros(), Ridge.NONE));
    try (state) {
      LeastSquaresSolution s = state.solve();
      known = Optional.of(state.analysis());
      double flops = alone.analysis().flops();
      String how = ofRows ? "A" : "R";
      if (!ofRows) {
        flopsOfR = state.analysis().flops();
        if (flopsOfR > flops) {
          ofRows = true;
          known = Optional.empty();
        }
      }
      String why =
          "ridge path: QR of [%s; ridge] with one analysis; [R; ridge] takes %s, A alone %s"
              .formatted(how, SolveReport.work(flopsOfR), SolveReport.work(flops));
      return new LeastSquaresSolution(
              s.solutions(),
              s.residualNorms(),
              s.rank(),
              s.deadColumns(),
              s.report().withNotes(List.of(why)))
          .requireFinite();
    }
  }
}
