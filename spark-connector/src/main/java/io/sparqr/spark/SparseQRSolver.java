/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import io.sparqr.spark.internal.ConstrainedState;
import io.sparqr.spark.internal.MinimumNorm;
import io.sparqr.spark.internal.Pipeline;
import io.sparqr.spark.internal.RidgePath;
import io.sparqr.spark.plan.SolveOptions;
import io.sparqr.spark.resource.JobScope;
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
   * @throws io.sparqr.error.NonFiniteValueException NaN or infinity in A, b or weights
   * @throws io.sparqr.error.MatrixFormatException an index out of range or twice in one row, a
   *     negative weight, no rows, no columns, or an element that is not a row
   * @throws io.sparqr.error.DimensionMismatchException rows that disagree on the number of columns
   *     or right-hand sides
   * @throws io.sparqr.error.InsufficientMemoryException the pattern does not fit the driver's
   *     memory, or a front its executor's
   * @throws io.sparqr.error.RankDeficientException with {@link RankPolicy#FAIL}
   * @throws io.sparqr.error.BackendUnavailableException CUDA is required and not available
   */
  public LeastSquaresSolution solve(JavaRDD<?> rows) {
    return solve(RowSource.of(rows));
  }

  /** The same from Scala's RDD. */
  public LeastSquaresSolution solve(RDD<?> rows) {
    return solve(rows.toJavaRDD());
  }

  /** The same from a Dataset with the columns "features" (vector) and "label". */
  public LeastSquaresSolution solve(Dataset<Row> rows) {
    return solve(rows, "features", "", "label");
  }

  /**
   * The same from a Dataset.
   *
   * @param featuresColumn a vector column
   * @param weightColumn empty: all weights 1
   * @param labelColumns the right-hand sides, numeric columns; at least one
   * @throws IllegalArgumentException if there is no label column
   */
  public LeastSquaresSolution solve(
      Dataset<Row> rows, String featuresColumn, String weightColumn, String... labelColumns) {
    return scoped(
        rows, () -> solve(RowSource.of(rows, featuresColumn, weightColumn, labelColumns)));
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
            s.report().withWarnings(notes));
  }

  private LeastSquaresSolution solve(RowSource rows, SolveOptions once) {
    if (once.solution().minimumNorm() && !once.problem().ridge().any()) {
      // Of least norm: nothing is dropped.
      return MinimumNorm.solve(
          rows, once.with(once.problem().withDropping(SolveOptions.Dropping.ANY)), listener);
    }
    try (var f = Pipeline.factorize(rows, once, listener)) {
      return f.solve();
    }
  }

  /**
   * Factorizes; R stays on the executors until the result is closed. Errors as {@link
   * #solve(JavaRDD)}.
   *
   * @throws IllegalArgumentException with {@code minimumNorm} and no ridge: a factorization gives
   *     basic solutions
   */
  public QRFactorization factorize(JavaRDD<?> rows) {
    return factorize(RowSource.of(rows));
  }

  /** The same from Scala's RDD. */
  public QRFactorization factorize(RDD<?> rows) {
    return factorize(rows.toJavaRDD());
  }

  /** The same from a Dataset with the columns "features" (vector) and "label". */
  public QRFactorization factorize(Dataset<Row> rows) {
    return factorize(rows, "features", "", "label");
  }

  /** The same from a Dataset; see {@link #solve(Dataset, String, String, String...)}. */
  public QRFactorization factorize(
      Dataset<Row> rows, String featuresColumn, String weightColumn, String... labelColumns) {
    return scoped(
        rows, () -> factorize(RowSource.of(rows, featuresColumn, weightColumn, labelColumns)));
  }

  private QRFactorization factorize(RowSource rows) {
    if (options.solution().minimumNorm() && !options.problem().ridge().any()) {
      throw new IllegalArgumentException(
          "minimumNorm is for solve: a factorization gives basic solutions");
    }
    return new QRFactorization(Pipeline.factorize(rows, options, listener));
  }

  /**
   * Solves with linear equality constraints C x = d: the least ||b - A x|| among the x that meet
   * them. [A; C] must have full column rank for x to be unique, A need not: a sum of effects that
   * is 0 makes the effects of a rank-deficient design unique. Nothing stays behind on the cluster.
   *
   * <p>Cost: a solve of A with p further rows, one more pass over the rows, 2 p triangular solves,
   * 8 n p bytes of the driver. See {@link ConstrainedFactorization}.
   *
   * @param rows of {@link SparseRow} or a LabeledPoint
   * @throws IllegalArgumentException if a constraint depends on those before it (the message says
   *     which one, and whether it contradicts them), or with {@code minimumNorm}
   * @throws io.sparqr.error.DimensionMismatchException if constraints have another number of
   *     right-hand sides than the rows
   * @throws io.sparqr.error.InsufficientMemoryException if n times p numbers do not fit the driver;
   *     other errors as {@link #solve(JavaRDD)}
   */
  public LeastSquaresSolution solve(JavaRDD<?> rows, LinearConstraints constraints) {
    try (ConstrainedFactorization f = factorize(rows, constraints)) {
      return f.solve();
    }
  }

  /**
   * Factorizes a problem with linear equality constraints, for its standard errors and multipliers
   * too; R stays on the executors until the result is closed. Errors as {@link #solve(JavaRDD,
   * LinearConstraints)}.
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
   * The ridge solutions for many lambdas, min ||b - A x||^2 + lambda ||x||^2: the rows are read
   * twice in all, and factorized once, without a ridge; each lambda then takes QR of [R;
   * sqrt(lambda) I], with one analysis for all of them. Where that takes more flops than QR of A
   * itself (R can have far more entries than A, of few rows), the lambdas after the first take the
   * rows again, with one analysis too; the reports say which. Equal to a solve for each lambda, up
   * to rounding.
   *
   * @param rows of {@link SparseRow} or a LabeledPoint
   * @param lambdas finite and at least 0, in any order. Where the solver has a ridge of one lambda
   *     a column, these are its factors: lambda_k times that of the column
   * @return one solution a lambda, in the order given
   * @throws IllegalArgumentException for a lambda out of range, with {@code minimumNorm}, or if the
   *     solver has a ridge of one lambda for all columns; other errors as {@link #solve(JavaRDD)}
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

  /** A Dataset may run jobs before there is an RDD of it: those belong to the solve, too. */
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
