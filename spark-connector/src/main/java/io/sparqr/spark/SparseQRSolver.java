/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import io.sparqr.spark.engine.JobScope;
import io.sparqr.spark.model.LinearConstraints;
import io.sparqr.spark.model.RankPolicy;
import io.sparqr.spark.model.RowColumns;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.pipeline.Pipeline;
import io.sparqr.spark.plan.SolveOptions;
import io.sparqr.spark.problem.ConstrainedState;
import io.sparqr.spark.problem.MinimumNorm;
import io.sparqr.spark.problem.RidgePath;
import io.sparqr.spark.report.LeastSquaresSolution;
import io.sparqr.spark.report.ProgressListener;
import io.sparqr.spark.rows.RowSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;

/**
 * A solver of sparse least-squares problems with fixed options, made by {@link
 * GpuSparseQR#builder()}. {@link GpuSparseQR} describes the accepted forms of rows.
 *
 * <p>Immutable; one instance may serve many solves and threads.
 */
public final class SparseQRSolver {

  private final SolveOptions options;
  private final ProgressListener listener;

  SparseQRSolver(SolveOptions options, ProgressListener listener) {
    this.options = Objects.requireNonNull(options, "options");
    this.listener = Objects.requireNonNull(listener, "listener");
  }

  /**
   * Factorizes, solves, and frees everything on the cluster.
   *
   * @param rows of {@link SparseRow} or a LabeledPoint
   * @throws io.sparqr.error.NonFiniteValueException if A, b or the weights contain NaN or infinity
   * @throws io.sparqr.error.MatrixFormatException for an index out of range or repeated in a row, a
   *     negative weight, no rows, no columns, or an element that is not a row
   * @throws io.sparqr.error.DimensionMismatchException if rows disagree on the number of columns or
   *     right-hand sides
   * @throws io.sparqr.error.InsufficientMemoryException if the pattern does not fit in the driver's
   *     memory, or a front in its executor's
   * @throws io.sparqr.error.RankDeficientException if A is rank-deficient, with {@link
   *     RankPolicy#FAIL}
   * @throws io.sparqr.error.BackendUnavailableException if CUDA is required but not available
   */
  public LeastSquaresSolution solve(JavaRDD<?> rows) {
    return solve(RowSource.of(rows));
  }

  /** As above, from Scala's RDD. */
  public LeastSquaresSolution solve(RDD<?> rows) {
    return solve(rows.toJavaRDD());
  }

  /** As above, from a Dataset with the columns "features" (vector) and "label". */
  public LeastSquaresSolution solve(Dataset<Row> rows) {
    return solve(rows, RowColumns.defaults());
  }

  /** As above, from the columns of a Dataset: features, right-hand sides and perhaps weights. */
  public LeastSquaresSolution solve(Dataset<Row> rows, RowColumns columns) {
    return scoped(rows, () -> solve(RowSource.of(rows, columns)));
  }

  /**
   * As above, from a Dataset.
   *
   * @param featuresColumn a vector column
   * @param weightColumn the weights; empty: all weights 1
   * @param labelColumns the right-hand sides, numeric columns; at least one
   * @throws IllegalArgumentException if there is no label column
   * @deprecated until 1.0; {@link #solve(Dataset, RowColumns)} needs no empty name
   */
  @Deprecated
  public LeastSquaresSolution solve(
      Dataset<Row> rows, String featuresColumn, String weightColumn, String... labelColumns) {
    return solve(rows, RowSource.columns(featuresColumn, weightColumn, labelColumns));
  }

  private LeastSquaresSolution solve(RowSource rows) {
    LeastSquaresSolution s = solve(rows, options.with(options.factorization().withKeepQ(false)));
    var notes = new ArrayList<String>();
    if (options.factorization().keepQ()) {
      notes.add("keepQ is for factorize: a solve leaves nothing behind that could keep Q");
    }
    if (options.solution().minimumNorm()
        && options.problem().ridge().any()
        && s.rank() < s.x().length) {
      notes.add("a basic solution: minimumNorm has no effect under a ridge");
    }
    return notes.isEmpty()
        ? s
        : new LeastSquaresSolution(
                s.solutions(),
                s.residualNorms(),
                s.rank(),
                s.deadColumns(),
                s.report().withWarnings(notes))
            .requireFinite();
  }

  private LeastSquaresSolution solve(RowSource rows, SolveOptions once) {
    if (once.solution().minimumNorm() && !once.problem().ridge().any()) {
      // The dropping rule does not matter here: the minimum-norm solution drops no column.
      return MinimumNorm.solve(
          rows, once.with(once.problem().withDropping(SolveOptions.Dropping.ANY)), listener);
    }
    return Pipeline.solve(rows, once, listener);
  }

  /**
   * Factorizes; R stays on the executors until the result is closed. Errors as in {@link
   * #solve(JavaRDD)}.
   *
   * @throws IllegalArgumentException with {@code minimumNorm} and no ridge: a factorization gives
   *     basic solutions
   */
  public QRFactorization factorize(JavaRDD<?> rows) {
    return factorize(RowSource.of(rows));
  }

  /** As above, from Scala's RDD. */
  public QRFactorization factorize(RDD<?> rows) {
    return factorize(rows.toJavaRDD());
  }

  /** As above, from a Dataset with the columns "features" (vector) and "label". */
  public QRFactorization factorize(Dataset<Row> rows) {
    return factorize(rows, RowColumns.defaults());
  }

  /** As above, from the columns of a Dataset: features, right-hand sides and perhaps weights. */
  public QRFactorization factorize(Dataset<Row> rows, RowColumns columns) {
    return scoped(rows, () -> factorize(RowSource.of(rows, columns)));
  }

  /**
   * As above, from a Dataset; see {@link #solve(Dataset, String, String, String...)}.
   *
   * @deprecated until 1.0; {@link #factorize(Dataset, RowColumns)} needs no empty name
   */
  @Deprecated
  public QRFactorization factorize(
      Dataset<Row> rows, String featuresColumn, String weightColumn, String... labelColumns) {
    return factorize(rows, RowSource.columns(featuresColumn, weightColumn, labelColumns));
  }

  private QRFactorization factorize(RowSource rows) {
    if (options.solution().minimumNorm() && !options.problem().ridge().any()) {
      throw new IllegalArgumentException(
          "minimumNorm is for solve: a factorization gives basic solutions");
    }
    return new QRFactorization(Pipeline.factorize(rows, options, listener));
  }

  /**
   * Solves with linear equality constraints C x = d: x minimizes ||b - A x|| among all x that
   * satisfy them. For a unique x, [A; C] must have full column rank, but A need not: in a
   * rank-deficient design, for example, requiring that the effects sum to 0 makes them unique.
   * Frees everything on the cluster.
   *
   * <p>Cost: a solve of A with p further rows, one more pass over the rows, 2 p triangular solves,
   * and 8 n p bytes on the driver. See {@link ConstrainedFactorization}.
   *
   * @param rows of {@link SparseRow} or a LabeledPoint
   * @throws IllegalArgumentException if a constraint depends on earlier ones (the message names it
   *     and says whether it contradicts them), or with {@code minimumNorm}
   * @throws io.sparqr.error.DimensionMismatchException if constraints and rows differ in the number
   *     of right-hand sides
   * @throws io.sparqr.error.InsufficientMemoryException if n times p numbers do not fit on the
   *     driver; other errors as in {@link #solve(JavaRDD)}
   */
  public LeastSquaresSolution solve(JavaRDD<?> rows, LinearConstraints constraints) {
    try (ConstrainedFactorization f = factorize(rows, constraints)) {
      return f.solve();
    }
  }

  /**
   * Factorizes a problem with linear equality constraints, to obtain standard errors and
   * multipliers too; R stays on the executors until the result is closed. Errors as in {@link
   * #solve(JavaRDD, LinearConstraints)}.
   */
  public ConstrainedFactorization factorize(JavaRDD<?> rows, LinearConstraints constraints) {
    if (options.solution().minimumNorm()) {
      throw new IllegalArgumentException("minimumNorm is for problems without constraints");
    }
    RowSource source = RowSource.of(rows);
    return new ConstrainedFactorization(
        ConstrainedState.factorize(source, constraints, options, listener));
  }

  /**
   * Ridge solutions for many lambdas, min ||b - A x||^2 + lambda ||x||^2. The rows are read as for
   * one solve and factorized once, without a ridge; then each lambda costs a QR of [R; sqrt(lambda)
   * I], with one analysis for all of them. If that takes more flops than a QR of A itself (R can
   * have far more entries than an A of few rows), the lambdas after the first use the rows again,
   * also with one analysis; the reports say which. The solutions equal those of separate solves, up
   * to rounding.
   *
   * @param rows of {@link SparseRow} or a LabeledPoint
   * @param lambdas finite and at least 0, in any order. If the solver has a ridge with one lambda
   *     per column, they are factors: column j gets lambda_k times its own
   * @return one solution per lambda, in the given order
   * @throws IllegalArgumentException for a lambda out of range, with {@code minimumNorm}, or if the
   *     solver has a ridge with one lambda for all columns; other errors as in {@link
   *     #solve(JavaRDD)}
   */
  public List<LeastSquaresSolution> ridgePath(JavaRDD<?> rows, double... lambdas) {
    if (options.solution().minimumNorm()) {
      throw new IllegalArgumentException("minimumNorm has no effect under a ridge");
    }
    if (options.problem().ridge().any() && options.problem().ridge().uniform()) {
      throw new IllegalArgumentException(
          "the solver has the ridge " + options.problem().ridge() + ", a path has its own");
    }
    return new RidgePath(RowSource.of(rows), options, listener).solve(lambdas);
  }

  /** Creating the RDD of a Dataset may run jobs; they belong to the solve, too. */
  private static <T> T scoped(Dataset<Row> rows, Supplier<T> action) {
    var context = JavaSparkContext.fromSparkContext(rows.sparkSession().sparkContext());
    try (var scope = new JobScope(context)) {
      scope.describe("rows of the Dataset");
      return action.get();
    }
  }

  /** The options in force. */
  public SolveOptions options() {
    return options;
  }
}
