/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import io.sparqr.backend.BackendChoice;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.spark.internal.MinimumNorm;
import io.sparqr.spark.internal.Pipeline;
import io.sparqr.spark.internal.RowSource;
import io.sparqr.spark.plan.SolveOptions;
import io.sparqr.sparse.Permutation;
import io.sparqr.symbolic.Amalgamation;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.Optional;
import java.util.OptionalDouble;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.storage.StorageLevel;

/**
 * Exact sparse linear least squares on Spark, min ||sqrt(W) (b - A x)||^2 + lambda ||x||^2, by a
 * distributed multifrontal QR factorization AP = QR (never A'A), on the executors' GPUs or CPUs.
 *
 * <p>Rows come as an RDD (Java or Scala) of {@link SparseRow}, of {@code
 * org.apache.spark.mllib.regression.LabeledPoint} or of {@code
 * org.apache.spark.ml.feature.LabeledPoint}, or as a Dataset with a vector column and one or more
 * label columns. The rows are read twice (pattern, values), three times with {@link
 * Builder#check(boolean)}: persist an RDD that is costly to compute, and one that may give other
 * rows, or another order of them, the next time: readings that differ are refused with an {@link
 * io.sparqr.error.InputChangedException}, whichever reading it is. Same rows in the same
 * partitions, same options and machine: bit-identical results.
 *
 * <p>Immutable; one instance may serve many solves and threads.
 */
public final class GpuSparseQR {

  private final SolveOptions options;
  private final ProgressListener listener;

  private GpuSparseQR(SolveOptions options, ProgressListener listener) {
    this.options = options;
    this.listener = listener;
  }

  /** Everything on its default. */
  public static Builder builder() {
    return new Builder();
  }

  /**
   * Solves with the defaults; see {@link #solveRows(JavaRDD)} for the errors.
   *
   * @param rows of {@link SparseRow} or a LabeledPoint
   */
  public static LeastSquaresSolution solve(JavaRDD<?> rows) {
    return builder().build().solveRows(rows);
  }

  /** Solves with the defaults, Scala's RDD. */
  public static LeastSquaresSolution solve(RDD<?> rows) {
    return builder().build().solveRows(rows.toJavaRDD());
  }

  /** Solves with the defaults; columns "features" (vector), "label". */
  public static LeastSquaresSolution solve(Dataset<Row> rows) {
    return builder().build().solveRows(rows, "features", "", "label");
  }

  /**
   * Factorizes and solves; nothing stays behind on the cluster.
   *
   * @param rows of {@link SparseRow} or a LabeledPoint
   * @throws io.sparqr.error.NonFiniteValueException NaN or infinity in A, b or weights
   * @throws io.sparqr.error.MatrixFormatException index out of range or twice in a row, negative
   *     weight, no rows, no columns, an element that is no row
   * @throws io.sparqr.error.DimensionMismatchException rows that disagree on the number of columns
   *     or right-hand sides
   * @throws io.sparqr.error.InsufficientMemoryException the pattern does not fit the driver, or a
   *     front its executor
   * @throws io.sparqr.error.RankDeficientException with {@link RankPolicy#FAIL}
   * @throws io.sparqr.error.BackendUnavailableException CUDA is required and not there
   */
  public LeastSquaresSolution solveRows(JavaRDD<?> rows) {
    return solve(RowSource.of(rows));
  }

  private LeastSquaresSolution solve(RowSource rows) {
    SolveOptions once = options.withKeepQ(false);
    if (once.minimumNorm() && once.ridge() == 0) {
      return MinimumNorm.solve(rows, once, listener);
    }
    try (QRFactorization f = Pipeline.factorize(rows, once, listener)) {
      return f.solve();
    }
  }

  /** The same from Scala's RDD. */
  public LeastSquaresSolution solveRows(RDD<?> rows) {
    return solveRows(rows.toJavaRDD());
  }

  /**
   * The same from a Dataset.
   *
   * @param featuresColumn a vector column
   * @param weightColumn empty: all weights 1
   * @param labelColumns the right-hand sides, numeric columns
   */
  public LeastSquaresSolution solveRows(
      Dataset<Row> rows, String featuresColumn, String weightColumn, String... labelColumns) {
    return solve(RowSource.of(rows, featuresColumn, weightColumn, labelColumns));
  }

  /**
   * Factorizes; R stays on the executors until the result is closed. Errors as {@link
   * #solveRows(JavaRDD)}.
   */
  public QRFactorization factorize(JavaRDD<?> rows) {
    return Pipeline.factorize(RowSource.of(rows), options, listener);
  }

  /** The same from Scala's RDD. */
  public QRFactorization factorize(RDD<?> rows) {
    return factorize(rows.toJavaRDD());
  }

  /** The same from a Dataset; see {@link #solveRows(Dataset, String, String, String...)}. */
  public QRFactorization factorize(
      Dataset<Row> rows, String featuresColumn, String weightColumn, String... labelColumns) {
    return Pipeline.factorize(
        RowSource.of(rows, featuresColumn, weightColumn, labelColumns), options, listener);
  }

  /** The options in force. */
  public SolveOptions options() {
    return options;
  }

  /** Collects options; {@link #build()} checks them. */
  public static final class Builder {
    private final SolveOptions.Builder options = new SolveOptions.Builder();
    private ProgressListener listener = ProgressListener.NONE;

    private Builder() {}

    /** Which column order; default AUTO. GIVEN goes by {@link #permutation(Permutation)}. */
    public Builder ordering(OrderingMethod method) {
      options.symbolic(options.symbolic().withOrdering(method));
      return this;
    }

    /** The caller's column order. */
    public Builder permutation(Permutation order) {
      options.symbolic(options.symbolic().withGiven(order));
      return this;
    }

    /** Rules of relaxed amalgamation. */
    public Builder amalgamation(Amalgamation rules) {
      options.symbolic(options.symbolic().withAmalgamation(rules));
      return this;
    }

    /** Whether column singletons are taken out first; default true. */
    public Builder singletons(boolean on) {
      options.symbolic(options.symbolic().withSingletons(on));
      return this;
    }

    /** CPU or CUDA; default AUTO. */
    public Builder backend(BackendChoice choice) {
      options.backend(choice);
      return this;
    }

    /** Penalty lambda ||x||^2 by n further rows sqrt(lambda) I; default 0. */
    public Builder ridge(double lambda) {
      options.ridge(lambda);
      return this;
    }

    /**
     * A column whose remaining 2-norm is at most this (after equilibration) is dead; negative: no
     * detection. Default 20 (m+n) eps max_j ||a_j||.
     */
    public Builder rankTolerance(double tolerance) {
      options.rankTolerance(OptionalDouble.of(tolerance));
      return this;
    }

    /** Whether columns are scaled to unit 2-norm first; default true. */
    public Builder equilibrate(boolean on) {
      options.equilibrate(on);
      return this;
    }

    /** n, where the rows cannot tell it (trailing empty columns). */
    public Builder columns(int n) {
      options.columns(n);
      return this;
    }

    /** Workers that the tree is cut for; default: the executors that are there. */
    public Builder executors(int count) {
      options.workers(count);
      return this;
    }

    /** Partitions of the shuffle that collects the pattern; default by cores. */
    public Builder partitions(int count) {
      options.partitions(count);
      return this;
    }

    /** How the tree is cut. */
    public Builder partitionOptions(PartitionOptions how) {
      options.partition(how);
      return this;
    }

    /** Where R is kept; default MEMORY_AND_DISK. */
    public Builder storageLevel(StorageLevel level) {
      options.storageLevel(level);
      return this;
    }

    /** What happens to a rank-deficient problem; default REPORT. */
    public Builder rankPolicy(RankPolicy policy) {
      options.rankPolicy(policy);
      return this;
    }

    /** Whether a solve ends with a pass that measures ||A'(b-Ax)||; default false. */
    public Builder check(boolean on) {
      options.check(on);
      return this;
    }

    /**
     * Steps of iterative refinement after a solve, x += (R'R)^-1 A'(b - Ax); default 0. Each costs
     * a pass over the rows and two triangular solves, no factorization. The report's residual norm
     * is that of the refined x then. For badly conditioned problems; a solve without it is normwise
     * backward stable already.
     */
    public Builder refinement(int steps) {
      options.refinement(steps);
      return this;
    }

    /**
     * Whether a solve of a problem with several solutions (rank-deficient, or fewer rows than
     * columns) gives the one of least 2-norm instead of a basic one, by a QR of A' or, where A does
     * not have full row rank, of R' after that of A; default false. Where the equations of that one
     * are too badly conditioned, the basic one is given all the same and the report warns. Without
     * effect on {@code factorize} and under a ridge, whose solution is unique.
     */
    public Builder minimumNorm(boolean on) {
      options.minimumNorm(on);
      return this;
    }

    /** Device memory that a task may use; default 0: what is free. */
    public Builder deviceMemoryBytes(long bytes) {
      options.deviceMemoryBytes(bytes);
      return this;
    }

    /**
     * An analysis made before ({@link QRFactorization#analysis()}), for a sequence of problems of
     * one pattern: Gauss-Newton steps, reweighted least squares. Ordering and analysis are saved
     * where the rows have that pattern (up to their order; stored zeros do not count), otherwise
     * they are made anew and the report warns. It takes the place of ordering, amalgamation and
     * singletons.
     */
    public Builder analysis(SymbolicAnalysis known) {
      options.analysis(Optional.of(known));
      return this;
    }

    /**
     * Whether {@code factorize} keeps Q beside R, as Householder vectors: further right-hand sides
     * that are aligned with the rows are then solved as accurately as those that came with them,
     * and without the semi-normal equations' two passes. Costs memory (about the entries of the
     * fronts, which the report tells) and sends every row to its task, as the rows of a front are
     * not combined before the shuffle. Without effect on a one-shot solve. Default false.
     */
    public Builder keepQ(boolean on) {
      options.keepQ(on);
      return this;
    }

    /** Who hears of progress; default nobody. */
    public Builder listener(ProgressListener hears) {
      listener = hears;
      return this;
    }

    /** Shortcut for {@code build().solveRows(rows)}. */
    public LeastSquaresSolution solve(JavaRDD<?> rows) {
      return build().solveRows(rows);
    }

    /** Shortcut for {@code build().solveRows(rows)}. */
    public LeastSquaresSolution solve(RDD<?> rows) {
      return build().solveRows(rows);
    }

    /** Shortcut for {@code build().factorize(rows)}. */
    public QRFactorization factorize(JavaRDD<?> rows) {
      return build().factorize(rows);
    }

    /** Shortcut for {@code build().factorize(rows)}. */
    public QRFactorization factorize(RDD<?> rows) {
      return build().factorize(rows);
    }

    /**
     * Checks and freezes.
     *
     * @throws IllegalArgumentException for an option out of range
     */
    public GpuSparseQR build() {
      return new GpuSparseQR(options.build(), listener);
    }
  }
}
