/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import io.sparqr.backend.BackendChoice;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.spark.internal.FactorState;
import io.sparqr.spark.plan.Ridge;
import io.sparqr.spark.plan.SolveOptions;
import io.sparqr.sparse.Permutation;
import io.sparqr.symbolic.Amalgamation;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicOptions;
import java.io.IOException;
import java.util.Objects;
import java.util.Optional;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.storage.StorageLevel;

/**
 * Exact sparse linear least squares on Spark, min ||sqrt(W) (b - A x)||^2 + lambda ||x||^2, by a
 * distributed multifrontal QR factorization AP = QR (never A'A), on the executors' GPUs or CPUs.
 *
 * <p>The way in: {@code solve} with the defaults, or {@link #builder()} for a {@link
 * SparseQRSolver} with options. Nothing is an instance of this class, so that its {@code solve}
 * cannot be called on something that has options, and forget them.
 *
 * <p>Rows come as an RDD (Java or Scala) of {@link SparseRow}, of {@code
 * org.apache.spark.mllib.regression.LabeledPoint} or of {@code
 * org.apache.spark.ml.feature.LabeledPoint}, or as a Dataset with a vector column and one or more
 * label columns. The rows are read twice (pattern, values), three times with {@link
 * Builder#check(boolean)}: persist an RDD that is costly to compute, and one that may give other
 * rows, or another order of them, the next time: readings that differ are refused with an {@link
 * io.sparqr.error.InputChangedException}, whichever reading it is. Same rows in the same
 * partitions, same options and machine: bit-identical results.
 */
public final class GpuSparseQR {

  private GpuSparseQR() {}

  /** Everything on its default. */
  public static Builder builder() {
    return new Builder();
  }

  /**
   * Solves with the defaults; see {@link SparseQRSolver#solve(JavaRDD)} for the errors.
   *
   * @param rows of {@link SparseRow} or a LabeledPoint
   */
  public static LeastSquaresSolution solve(JavaRDD<?> rows) {
    return builder().solve(rows);
  }

  /** Solves with the defaults, Scala's RDD. */
  public static LeastSquaresSolution solve(RDD<?> rows) {
    return builder().solve(rows);
  }

  /** Solves with the defaults; columns "features" (vector), "label". */
  public static LeastSquaresSolution solve(Dataset<Row> rows) {
    return builder().solve(rows);
  }

  /**
   * Loads a factorization that {@link QRFactorization#save(String)} saved: R comes to the
   * executors, as many as there are; every file is read once and checked. The result has no rows:
   * {@link QRFactorization#solve()} gives the solution that belongs to the saved right-hand sides,
   * {@link QRFactorization#solveRelabeled(JavaRDD)} solves for others, {@link
   * QRFactorization#append(JavaRDD)} takes new rows; {@link QRFactorization#solve(JavaRDD)} throws
   * {@link IllegalStateException}. The files must stay as long as it is open: what executors lose
   * is read again.
   *
   * @throws java.io.FileNotFoundException if there is none
   * @throws io.sparqr.error.WireFormatException if it is truncated, damaged, not complete, or of
   *     another version
   * @throws IOException if it cannot be read
   */
  public static QRFactorization load(JavaSparkContext context, String folder) throws IOException {
    return new QRFactorization(FactorState.load(context, folder));
  }

  /**
   * Collects options, which are checked as they are set: {@link IllegalArgumentException} for one
   * out of range. One builder may make several solvers, each with the options of its time. Not for
   * several threads at once.
   */
  public static final class Builder {
    private SolveOptions options = SolveOptions.defaults();
    private ProgressListener listener = ProgressListener.NONE;

    private Builder() {}

    /** Which column order; default AUTO. GIVEN goes by {@link #permutation(Permutation)}. */
    public Builder ordering(OrderingMethod method) {
      return symbolic(options.analysis().symbolic().withOrdering(method));
    }

    /** The caller's column order. */
    public Builder permutation(Permutation order) {
      return symbolic(options.analysis().symbolic().withGiven(order));
    }

    /** Rules of relaxed amalgamation. */
    public Builder amalgamation(Amalgamation rules) {
      return symbolic(options.analysis().symbolic().withAmalgamation(rules));
    }

    /** Whether column singletons are taken out first; default true. */
    public Builder singletons(boolean on) {
      return symbolic(options.analysis().symbolic().withSingletons(on));
    }

    private Builder symbolic(SymbolicOptions rules) {
      options = options.with(options.analysis().withSymbolic(rules));
      return this;
    }

    /** CPU or CUDA; default AUTO. */
    public Builder backend(BackendChoice choice) {
      options = options.with(options.factorization().withBackend(choice));
      return this;
    }

    /** Penalty lambda ||x||^2 by n further rows sqrt(lambda) I; default 0. */
    public Builder ridge(double lambda) {
      options = options.with(options.problem().withRidge(Ridge.of(lambda)));
      return this;
    }

    /**
     * Penalty sum_j lambda_j x_j^2, one lambda a column: 0 leaves a column free, as an intercept's.
     * Takes the place of {@link #ridge(double)}. A solve throws {@link IllegalArgumentException}
     * where the rows have another number of columns.
     *
     * @param lambdas size n, by column; finite and at least 0; copied
     */
    public Builder ridge(double[] lambdas) {
      options = options.with(options.problem().withRidge(Ridge.of(lambdas)));
      return this;
    }

    /**
     * A column whose remaining 2-norm is at most this (after equilibration) is dead; negative: no
     * detection. Default 20 (m+n) eps max_j ||a_j||.
     */
    public Builder rankTolerance(double tolerance) {
      options = options.with(options.problem().withRankTolerance(tolerance));
      return this;
    }

    /** Whether columns are scaled to unit 2-norm first; default true. */
    public Builder equilibrate(boolean on) {
      options = options.with(options.problem().withEquilibrate(on));
      return this;
    }

    /** n, where the rows cannot tell it (trailing empty columns). */
    public Builder columns(int n) {
      options = options.with(options.input().withColumns(n));
      return this;
    }

    /** Workers that the tree is cut for; default: the executors that are there. */
    public Builder executors(int count) {
      options = options.with(options.cut().withWorkers(count));
      return this;
    }

    /**
     * Executors that are waited for before the tree is cut; under dynamic allocation they are asked
     * for, too. Default: what {@code spark.scheduler.minRegisteredResourcesRatio} makes of the
     * executors that Spark was told to start with, for as long after the application's start as
     * Spark itself would wait. Without effect in local mode.
     */
    public Builder minimumExecutors(int count) {
      options = options.with(options.cut().withMinimumExecutors(count));
      return this;
    }

    /**
     * Seconds that {@link #minimumExecutors(int)} are waited for at most; default {@code
     * spark.scheduler.maxRegisteredResourcesWaitingTime}. After them the tree is cut for the
     * executors that are there, and the report warns.
     */
    public Builder executorWait(double seconds) {
      options = options.with(options.cut().withExecutorWait(seconds));
      return this;
    }

    /**
     * Partitions of the shuffle that collects the pattern; default: those of the rows, at most 8 a
     * core.
     */
    public Builder partitions(int count) {
      options = options.with(options.input().withPartitions(count));
      return this;
    }

    /** How the tree is cut. */
    public Builder partitionOptions(PartitionOptions how) {
      options = options.with(options.cut().withPartition(how));
      return this;
    }

    /** Where R is kept; default MEMORY_AND_DISK. */
    public Builder storageLevel(StorageLevel level) {
      options = options.with(options.factorization().withStorageLevel(level));
      return this;
    }

    /** What happens to a rank-deficient problem; default REPORT. */
    public Builder rankPolicy(RankPolicy policy) {
      options = options.with(options.problem().withRankPolicy(policy));
      return this;
    }

    /**
     * Whether of columns that depend on others the later ones go, as in R's lm, whatever the
     * fill-reducing order; default false. It costs a back substitution for each of them, and memory
     * on the driver for the null space; where that is beyond an eighth of its heap the report
     * warns, and the fill-reducing order decides.
     */
    public Builder dropLater(boolean on) {
      return dropping(options.problem().dropping().later(on));
    }

    /**
     * Columns that stay where they can, the first of them most of all, before all others; the rest
     * by {@link #dropLater(boolean)}, which this turns on. Negative ones count from the end: -1 is
     * the last column.
     */
    public Builder keep(int... columns) {
      return dropping(options.problem().dropping().keeping(columns));
    }

    /**
     * Columns that go where they can, before all others, numbered as in {@link #keep}; turns {@link
     * #dropLater(boolean)} on.
     */
    public Builder drop(int... columns) {
      return dropping(options.problem().dropping().first(columns));
    }

    private Builder dropping(SolveOptions.Dropping choice) {
      options = options.with(options.problem().withDropping(choice));
      return this;
    }

    /**
     * Whether every solve ends with a pass that measures ||A'(b-Ax)||, of further right-hand sides
     * too; default false.
     */
    public Builder check(boolean on) {
      options = options.with(options.solution().withCheck(on));
      return this;
    }

    /**
     * Steps of iterative refinement after every solve, x += (R'R)^-1 A'(b - Ax), of further
     * right-hand sides too; default 0. A minimum-norm solution is refined as long as that helps,
     * whatever is said here. Each costs a pass over the rows and two triangular solves, no
     * factorization. The report's residual norm is that of the refined x then. For badly
     * conditioned problems; a solve without it is normwise backward stable already.
     */
    public Builder refinement(int steps) {
      options = options.with(options.solution().withRefinement(steps));
      return this;
    }

    /**
     * Whether a solve of a problem with several solutions (rank-deficient, or fewer rows than
     * columns) gives the one of least 2-norm instead of a basic one, by a QR of A' or, where A does
     * not have full row rank, of R' after that of A; default false. Where the equations of that one
     * are too badly conditioned, the basic one is given all the same and the report warns. {@code
     * factorize} refuses it. Under a ridge the solution is unique; where the ridge is too small to
     * make it so numerically, the basic one is given and the report warns.
     */
    public Builder minimumNorm(boolean on) {
      options = options.with(options.solution().withMinimumNorm(on));
      return this;
    }

    /** Device memory that a task may use; default 0: what is free. */
    public Builder deviceMemoryBytes(long bytes) {
      options = options.with(options.factorization().withDeviceMemoryBytes(bytes));
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
      options = options.with(options.analysis().withKnown(Optional.of(known)));
      return this;
    }

    /**
     * Whether it is noted what ran when and where, with the assembly tree and the patterns of A and
     * R, for {@link SolveReport#toHtml()}; default false. Cost: some thousand records, one pass
     * over the pattern and the tree on the driver, a look at each JVM's memory some times a second.
     */
    public Builder profile(boolean on) {
      options = options.with(options.factorization().withProfile(on));
      return this;
    }

    /**
     * Whether {@code factorize} keeps Q beside R, as Householder vectors: further right-hand sides
     * that are aligned with the rows are then solved as accurately as those that came with them,
     * and without the semi-normal equations' two passes. Costs memory (about the entries of the
     * fronts, which the report tells) and sends every row to its task, as the rows of a front are
     * not combined before the shuffle. A one-shot solve does not keep it, and its report says so.
     * Default false.
     */
    public Builder keepQ(boolean on) {
      options = options.with(options.factorization().withKeepQ(on));
      return this;
    }

    /** Who hears of progress; default nobody. */
    public Builder listener(ProgressListener hears) {
      listener = Objects.requireNonNull(hears, "listener");
      return this;
    }

    /** Shortcut for {@code build().solve(rows)}. */
    public LeastSquaresSolution solve(JavaRDD<?> rows) {
      return build().solve(rows);
    }

    /** Shortcut for {@code build().solve(rows)}. */
    public LeastSquaresSolution solve(RDD<?> rows) {
      return build().solve(rows);
    }

    /** Shortcut for {@code build().solve(rows)}. */
    public LeastSquaresSolution solve(Dataset<Row> rows) {
      return build().solve(rows);
    }

    /** Shortcut for {@code build().factorize(rows)}. */
    public QRFactorization factorize(JavaRDD<?> rows) {
      return build().factorize(rows);
    }

    /** Shortcut for {@code build().factorize(rows)}. */
    public QRFactorization factorize(RDD<?> rows) {
      return build().factorize(rows);
    }

    /** Shortcut for {@code build().factorize(rows)}. */
    public QRFactorization factorize(Dataset<Row> rows) {
      return build().factorize(rows);
    }

    /** A solver with the options so far: what is set afterwards is for the next one. */
    public SparseQRSolver build() {
      return new SparseQRSolver(options, listener);
    }
  }
}
