/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import io.sparqr.backend.BackendChoice;
import io.sparqr.backend.FrontMethod;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.spark.factorization.FactorState;
import io.sparqr.spark.model.RankPolicy;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.plan.Ridge;
import io.sparqr.spark.plan.SolveOption;
import io.sparqr.spark.plan.SolveOptions;
import io.sparqr.spark.report.LeastSquaresSolution;
import io.sparqr.spark.report.ProgressListener;
import io.sparqr.spark.report.SolveReport;
import io.sparqr.sparse.Permutation;
import io.sparqr.symbolic.Amalgamation;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicOptions;
import java.io.IOException;
import java.util.Objects;
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
 * <p>Call {@code solve} for the defaults, or {@link #builder()} for a {@link SparseQRSolver} with
 * options. This class has no instances: otherwise a call of the static {@code solve} on an object
 * with options would silently ignore them.
 *
 * <p>Rows are an RDD (Java or Scala) of {@link SparseRow}, of {@code
 * org.apache.spark.mllib.regression.LabeledPoint} or of {@code
 * org.apache.spark.ml.feature.LabeledPoint}, or a Dataset with a vector column and one or more
 * label columns. On a cluster a solve reads the rows twice (pattern, values), with a local master
 * once if there is room for a compact copy, and once more with {@link Builder#check(boolean)}. So
 * persist an RDD that is costly to compute, or whose rows or their order may change: if a later
 * reading differs from the first, the solve throws an {@link
 * io.sparqr.error.InputChangedException}. The same rows in the same partitions, with the same
 * options on the same kind of machine, give bit-identical results.
 */
public final class GpuSparseQR {

  private GpuSparseQR() {}

  /** A builder with all options at their defaults. */
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

  /** Solves an RDD of Scala's with the defaults. */
  public static LeastSquaresSolution solve(RDD<?> rows) {
    return builder().solve(rows);
  }

  /** Solves with the defaults; the columns are "features" (vector) and "label". */
  public static LeastSquaresSolution solve(Dataset<Row> rows) {
    return builder().solve(rows);
  }

  /**
   * Loads a factorization saved by {@link QRFactorization#save(String)}. R is distributed over the
   * executors, however many there are; every file is read once and checked. The result has no rows:
   * {@link QRFactorization#solve()} gives the solution for the saved right-hand sides, {@link
   * QRFactorization#solveRelabeled(JavaRDD)} solves for new ones, {@link
   * QRFactorization#append(JavaRDD)} takes new rows; {@link QRFactorization#solve(JavaRDD)} throws
   * {@link IllegalStateException}. Keep the files until the factorization is closed: blocks lost
   * with an executor are read again.
   *
   * @throws java.io.FileNotFoundException if the folder has no factorization
   * @throws io.sparqr.error.WireFormatException if it is truncated, damaged, incomplete, or of
   *     another format version
   * @throws IOException if it cannot be read
   */
  public static QRFactorization load(JavaSparkContext context, String folder) throws IOException {
    return new QRFactorization(FactorState.load(context, folder));
  }

  /**
   * Collects options and checks each when it is set: {@link IllegalArgumentException} if it is out
   * of range. One builder may make several solvers, each with the options set so far. Not
   * thread-safe.
   */
  public static final class Builder {
    private SolveOptions options = SolveOptions.defaults();
    private ProgressListener listener = ProgressListener.NONE;

    private Builder() {}

    private <T> Builder set(SolveOption<T> option, T value) {
      options = option.set(options, value);
      return this;
    }

    /**
     * An option by its name and the text of its value, for programs that get options as text:
     * {@code option("rankTolerance", "1e-9")}, {@code option("ordering", "nd")}. Words for values
     * are those of the command line.
     *
     * @param name of a method of this class, or of a keyword in Python; not of one whose argument
     *     is an object, such as an analysis
     * @throws IllegalArgumentException if there is no such option, or the value is out of range
     */
    public Builder option(String name, String value) {
      options = SolveOption.named(name).setText(options, value);
      return this;
    }

    /**
     * The method of the column order; default AUTO. For GIVEN see {@link
     * #permutation(Permutation)}.
     */
    public Builder ordering(OrderingMethod method) {
      return set(SolveOption.ORDERING, method);
    }

    /** The caller's column order. */
    public Builder permutation(Permutation order) {
      SymbolicOptions rules = options.analysis().symbolic().withGiven(order);
      options = options.with(options.analysis().withSymbolic(rules));
      return this;
    }

    /** Rules for merging fronts. */
    public Builder amalgamation(Amalgamation rules) {
      return set(SolveOption.AMALGAMATION, rules);
    }

    /** Whether column singletons are eliminated before the factorization; default true. */
    public Builder singletons(boolean on) {
      return set(SolveOption.SINGLETONS, on);
    }

    /** The backend, CPU or CUDA; default AUTO. */
    public Builder backend(BackendChoice choice) {
      return set(SolveOption.BACKEND, choice);
    }

    /**
     * How fronts may be factored; default AUTO: on CPUs a tree of fronts by its Gram matrix where
     * reflectors take several times as long, as for rows of effects. R is measured against the
     * rows, column by column, in twice the precision, and taken only if its backward error is of
     * the size that reflectors leave; else, and with Q kept or a device, it is reflectors. The
     * report counts these fronts, with the largest error. Bits then depend on the cut of the tree
     * into tasks; with HOUSEHOLDER R's do not.
     */
    public Builder method(FrontMethod way) {
      return set(SolveOption.METHOD, way);
    }

    /** Penalty lambda ||x||^2, added as n further rows sqrt(lambda) I; default 0. */
    public Builder ridge(double lambda) {
      return set(SolveOption.RIDGE, lambda);
    }

    /**
     * Penalty sum_j lambda_j x_j^2, with one lambda per column; 0 leaves a column unpenalized, such
     * as an intercept. Replaces {@link #ridge(double)}. A solve throws {@link
     * IllegalArgumentException} if the rows have a different number of columns.
     *
     * @param lambdas size n, by column; finite and at least 0; copied
     */
    public Builder ridge(double[] lambdas) {
      options = options.with(options.problem().withRidge(Ridge.of(lambdas)));
      return this;
    }

    /**
     * A column with a remaining 2-norm of at most this (after equilibration) counts as dependent;
     * no column has a norm below a negative number, which therefore turns detection off. Default 20
     * (m+n) eps max_j ||a_j||.
     */
    public Builder rankTolerance(double tolerance) {
      return set(SolveOption.RANK_TOLERANCE, tolerance);
    }

    /** Whether columns are scaled to unit 2-norm before the factorization; default true. */
    public Builder equilibrate(boolean on) {
      return set(SolveOption.EQUILIBRATE, on);
    }

    /** The number of columns, if the rows do not determine it (trailing empty columns). */
    public Builder columns(int n) {
      return set(SolveOption.COLUMNS, n);
    }

    /** The number of workers to cut the tree for; default (0): the executors present. */
    public Builder executors(int count) {
      return set(SolveOption.EXECUTORS, count);
    }

    /**
     * The number of executors to wait for before the tree is cut; under dynamic allocation they are
     * also requested. Default (0): the fraction {@code spark.scheduler.minRegisteredResourcesRatio}
     * of the executors that Spark starts with, for no longer than Spark itself would wait after the
     * application's start. No effect in local mode.
     */
    public Builder minimumExecutors(int count) {
      return set(SolveOption.MINIMUM_EXECUTORS, count);
    }

    /**
     * The longest wait for {@link #minimumExecutors(int)}, in seconds; default {@code
     * spark.scheduler.maxRegisteredResourcesWaitingTime}. Then the tree is cut for the executors
     * present, and the report warns.
     */
    public Builder executorWait(double seconds) {
      return set(SolveOption.EXECUTOR_WAIT, seconds);
    }

    /**
     * Partitions of the shuffle that collects the pattern; default (0): as many as the rows have,
     * at most 8 per core.
     */
    public Builder partitions(int count) {
      return set(SolveOption.PARTITIONS, count);
    }

    /** The options for cutting the tree. */
    public Builder partitionOptions(PartitionOptions how) {
      return set(SolveOption.PARTITION_OPTIONS, how);
    }

    /** Where R is kept; default MEMORY_AND_DISK. */
    public Builder storageLevel(StorageLevel level) {
      return set(SolveOption.STORAGE_LEVEL, level);
    }

    /** How to treat a rank-deficient problem; default REPORT. */
    public Builder rankPolicy(RankPolicy policy) {
      return set(SolveOption.RANK_POLICY, policy);
    }

    /**
     * Whether, among dependent columns, the later ones are dropped, as in R's lm, independently of
     * the fill-reducing order; default false. Costs one back substitution for each dependent
     * column, and memory on the driver for the null space. If that exceeds an eighth of the
     * driver's heap, the fill-reducing order decides and the report warns.
     */
    public Builder dropLater(boolean on) {
      return dropping(options.problem().dropping().later(on));
    }

    /**
     * Columns to keep if possible, in preference to all others; the first has the highest priority.
     * Turns on {@link #dropLater(boolean)}, which decides on the other columns. Negative numbers
     * count from the end: -1 is the last column.
     */
    public Builder keep(int... columns) {
      return dropping(options.problem().dropping().keeping(columns));
    }

    /**
     * Columns to drop if possible, in preference to all others, numbered as in {@link #keep}; turns
     * {@link #dropLater(boolean)} on.
     */
    public Builder drop(int... columns) {
      return dropping(options.problem().dropping().first(columns));
    }

    /**
     * The columns from this one on are kept before all others, those of {@link #keep} included,
     * unless {@link #drop} names them: the absorbed effects of a regression, which stand before its
     * regressors. Turns {@link #dropLater(boolean)} on. O(1), however many columns these are.
     *
     * @throws IllegalArgumentException if the column is negative
     */
    public Builder keepFrom(int column) {
      if (column < 0) {
        throw new IllegalArgumentException("keepFrom(" + column + "): a column, from 0");
      }
      return dropping(options.problem().dropping().keepingFrom(column));
    }

    private Builder dropping(SolveOptions.Dropping choice) {
      return set(SolveOption.DROPPING, choice);
    }

    /**
     * Whether every solve, including later right-hand sides, ends with two passes that measure
     * ||A'(b-Ax)|| and the backward error of x ({@link SolveReport.Check}), with a verdict in
     * words; default false.
     */
    public Builder check(boolean on) {
      return set(SolveOption.CHECK, on);
    }

    /**
     * The least reciprocal condition estimate that is accepted, in [0, 1); default 0: every one.
     * R's {@code lm} takes columns for dependent from about 1e-7 on. Without it a solve warns from
     * a condition of 1e7 on and names the columns ({@link SolveReport.RankTest#nearlyDependent}).
     *
     * @throws IllegalArgumentException out of range; a solve beyond it throws {@link
     *     io.sparqr.error.IllConditionedException}
     */
    public Builder minRcond(double least) {
      return set(SolveOption.MIN_RCOND, least);
    }

    /**
     * Steps of iterative refinement x += (R'R)^-1 A'(b - Ax) after every solve, including later
     * right-hand sides, at most; default 0. A step after which the measured residual has grown, or
     * that is not shorter than the one before, is taken back and ends the refinement. A
     * minimum-norm solution is refined as long as that helps, regardless of this option. k steps
     * cost k + 1 passes over the rows and two triangular solves each, but no factorization. Useful
     * for badly conditioned problems; a solve is normwise backward stable without it.
     */
    public Builder refinement(int steps) {
      return set(SolveOption.REFINEMENT, steps);
    }

    /**
     * Whether a solve of a problem with several solutions (rank-deficient, or fewer rows than
     * columns) returns the solution of least 2-norm instead of a basic one; default false. It takes
     * a QR of A' or, if A does not have full row rank, a QR of A and then one of R'. If the system
     * for it is too badly conditioned, the result is the basic solution and the report warns.
     * {@code factorize} rejects this option. With a ridge the solution is unique; if the ridge is
     * too small to make it so numerically, the result is the basic solution and the report warns.
     */
    public Builder minimumNorm(boolean on) {
      return set(SolveOption.MINIMUM_NORM, on);
    }

    /** Device memory that a task may use, in bytes; default (0): all free memory. */
    public Builder deviceMemoryBytes(long bytes) {
      return set(SolveOption.DEVICE_MEMORY_BYTES, bytes);
    }

    /**
     * An earlier analysis ({@link QRFactorization#analysis()}), for a sequence of problems with the
     * same pattern: Gauss-Newton steps, reweighted least squares. If the rows have that pattern (in
     * any order; stored zeros do not count), ordering and analysis are skipped; otherwise they are
     * computed and the report warns. Replaces the options for ordering, amalgamation and
     * singletons.
     */
    public Builder analysis(SymbolicAnalysis known) {
      return set(SolveOption.ANALYSIS, known);
    }

    /**
     * Whether to record the time and place of every task, the assembly tree and the patterns of A
     * and R, for {@link SolveReport#toHtml()}; default false. Cost: some thousand records, one pass
     * over the pattern and the tree on the driver, and a few memory readings a second in each JVM.
     */
    public Builder profile(boolean on) {
      return set(SolveOption.PROFILE, on);
    }

    /**
     * Whether {@code factorize} keeps Q as well as R, as Householder vectors: further right-hand
     * sides aligned with the rows are then solved as accurately as the original ones, without the
     * two passes of the semi-normal equations. It costs memory (about the entries of the fronts;
     * the report gives the number), and every row is sent to its task, because rows are not
     * combined before the shuffle. {@code solve} does not keep Q and says so in its report. Default
     * false.
     */
    public Builder keepQ(boolean on) {
      return set(SolveOption.KEEP_Q, on);
    }

    /** The listener for progress; default none. */
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

    /** A solver with the options set so far. Later changes affect later solvers only. */
    public SparseQRSolver build() {
      return new SparseQRSolver(options, listener);
    }
  }
}
