/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import io.sparqr.spark.factorization.FactorState;
import io.sparqr.spark.model.Dependency;
import io.sparqr.spark.model.HalfSolve;
import io.sparqr.spark.model.InverseBlock;
import io.sparqr.spark.model.QTransposed;
import io.sparqr.spark.model.RFactor;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.plan.Readings;
import io.sparqr.spark.problem.Append;
import io.sparqr.spark.report.LeastSquaresSolution;
import io.sparqr.spark.report.QrCriteria;
import io.sparqr.spark.report.SolveReport;
import io.sparqr.spark.rows.RowSource;
import io.sparqr.sparse.Permutation;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.io.IOException;
import java.util.List;
import java.util.Objects;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.rdd.RDD;

/**
 * A factorization AP = QR, with R and Q'b on the executors. The options of its solver apply to all
 * solutions. It holds persisted RDDs and broadcasts until {@link #close()}; afterwards every other
 * method throws {@link IllegalStateException}. Not thread-safe.
 */
public final class QRFactorization implements AutoCloseable {

  private final FactorState state;
  private boolean closed;

  QRFactorization(FactorState state) {
    this.state = Objects.requireNonNull(state, "state");
  }

  /** The state, if the factorization is still open. */
  private FactorState open() {
    if (closed) {
      throw new IllegalStateException("this factorization is closed");
    }
    return state;
  }

  /**
   * The solution for the right-hand sides that came with the rows, by back substitution from the
   * top of the tree down. Computed at the first call; later calls return the same object.
   */
  public LeastSquaresSolution solve() {
    return open().solve();
  }

  /**
   * Solves for further right-hand sides. With {@code keepQ} it uses the kept Q, in one pass over
   * the rows and as accurately as for the original right-hand sides; otherwise it uses the
   * corrected semi-normal equations R'R x = A'b with one step of iterative refinement (Bjorck 1987,
   * Linear Algebra Appl. 88/89), in two passes, which lose digits if the condition number exceeds
   * about 1e7. The report names the method used. {@code refinement} and {@code check} apply here
   * too; the correction counts as the first step of refinement.
   *
   * @param rightHandSides aligned with the factorized rows: same number of partitions, same number
   *     of elements in each; all elements have the same length
   * @throws io.sparqr.error.DimensionMismatchException if they are not aligned or differ in length
   */
  public LeastSquaresSolution solve(JavaRDD<double[]> rightHandSides) {
    return open().solveAligned(state.source().withLabels(rightHandSides));
  }

  /**
   * Solves for right-hand sides that are given as complete rows: the matrix and weights of this
   * factorization with new labels, in any order and partitioning. Always uses the semi-normal
   * equations. Rows of another matrix are rejected if their number or ||A||_F differs.
   *
   * @param rows of {@link SparseRow} or a LabeledPoint
   * @throws IllegalArgumentException if these are the rows of another matrix
   * @throws io.sparqr.error.DimensionMismatchException if the number of rows or columns differs
   */
  public LeastSquaresSolution solveRelabeled(JavaRDD<?> rows) {
    return open().solveFurther(RowSource.of(rows));
  }

  /** As above, from Scala's RDD. */
  public LeastSquaresSolution solveRelabeled(RDD<?> rows) {
    return solveRelabeled(rows.toJavaRDD());
  }

  /**
   * Standard errors of x for right-hand side k: sigma sqrt(diag((A'A)^-1)) over the independent
   * columns, from the R that gave x (with a ridge: (A'A + lambda I)^-1), and sigma^2 = ||b - A
   * x||^2 / (rows - rank). NaN in dependent columns, and everywhere if there are no degrees of
   * freedom (rows = rank). See {@link #unscaledErrors()} for the cost.
   */
  public double[] standardErrors(int k) {
    return open().standardErrors(k);
  }

  /**
   * sqrt(diag((A'A)^-1)) over the independent columns, NaN in dependent ones; these are the
   * standard errors for sigma = 1. Computed at the first call and kept.
   *
   * <p>They are the norms of the rows of R^-1, from the selected inverse on the pattern of R
   * (Erisman and Tinney 1975, doi:10.1145/360680.360704) from the top of the tree down, in one
   * Spark job per level and about as many flops as the factorization. A square root of the inverse
   * is computed, so that the relative error is about eps times the condition number of the scaled
   * columns, not its square. A column singleton costs O(1) more if the independent columns reached
   * from its row meet in one front (for example a level with a single observation, and an
   * intercept). Otherwise it costs a forward substitution with R', in batches of 64 and once for
   * equal ones; with many such singletons {@code singletons(false)} is faster.
   */
  public double[] unscaledErrors() {
    return open().unscaledErrors();
  }

  /** {@link #standardErrors(int)} for the first right-hand side. */
  public double[] standardErrors() {
    return standardErrors(0);
  }

  /**
   * Leverages a_i'(A'A)^-1 a_i of the factorized weighted rows, over the independent columns (with
   * a ridge: (A'A + lambda I)^-1). They are the diagonal of the hat matrix; without a ridge their
   * sum is the rank. The RDD has one element per partition of the rows: the leverages of its rows
   * of positive weight, in order. Valid until {@link #close()}.
   *
   * <p>The columns of a row meet in one front, on which the selected inverse is known. The first
   * call computes everything, including the {@link #unscaledErrors()} of all columns. It costs as
   * much as those, a pass over the rows, their shuffle, and for each row twice as many flops as its
   * entries times the rows of the inverse's root on its front.
   *
   * @throws io.sparqr.error.InputChangedException if the rows differ from the factorized ones
   */
  public JavaRDD<double[]> leverages() {
    return open().leverages();
  }

  /**
   * (A'A)^-1 u over the independent columns (with a ridge: (A'A + lambda I)^-1 u) for sparse
   * vectors u in the caller's columns and units. Costs two triangular solves of one Spark job per
   * level each, and 2 n values per vector on the driver, so pass some tens of vectors at a time.
   *
   * @param vectors their indices and values; labels and weights are ignored
   * @return n values per vector, 0 in dependent columns
   * @throws IndexOutOfBoundsException if a vector has an entry beyond the columns
   */
  public double[][] inverseTimes(List<SparseRow> vectors) {
    return open().inverseTimes(vectors);
  }

  /**
   * Entries of (A'A)^-1 u, for blocks of the inverse: the covariance of a few coefficients, say.
   * Where R is not on devices and has no singleton columns, the solves touch only the fronts of
   * these columns and of the vectors', and those above them; a vector then takes as many values on
   * the driver as these have pivots, and R is read once for up to 1024 vectors. Elsewhere as {@link
   * #inverseTimes(List)}.
   *
   * @param vectors their indices and values; labels and weights are ignored
   * @param columns original indices, in any order
   * @return for each vector a value for each of the columns, 0 in dependent ones
   * @throws IndexOutOfBoundsException if a column is beyond those of A
   */
  public double[][] inverseTimes(List<SparseRow> vectors, int[] columns) {
    return open().inverseTimes(vectors, columns);
  }

  /**
   * (A'A)^-1 on k columns, for sums over all of its entries. Where most of the columns meet in one
   * front, as those of a factor's many levels do in the largest, the inverse on that front comes
   * from one descent like that of {@link #leverages()}, which makes the leverages too if the rows
   * are at hand, and stays with executors: 8 k^2 bytes, at most 512 MB, until it is closed. Only
   * columns outside that front take solves. Elsewhere, and where R is on devices, every strip costs
   * what {@link #inverseTimes(List, int[])} does.
   *
   * @param columns original indices, in any order; in that of {@link #permutation()} a strip moves
   *     no columns but its own
   * @throws IndexOutOfBoundsException if a column is beyond those of A
   */
  public InverseBlock inverseBlock(int... columns) {
    return open().inverseBlock(columns);
  }

  /** R^-T u for sparse vectors u: one triangular solve, half of {@link #inverseTimes}. */
  public HalfSolve halfSolve(List<SparseRow> vectors) {
    return open().halfSolve(vectors);
  }

  /**
   * The report at this time: without residual and solve times after the factorization, complete
   * after {@link #solve()}.
   */
  public SolveReport summary() {
    return open().report();
  }

  /** Numerical rank. */
  public int rank() {
    return open().rank();
  }

  /** P: the columns in the order of R. */
  public Permutation permutation() {
    return open().permutation();
  }

  /** Original indices of the dependent columns, ascending. */
  public int[] deadColumns() {
    return open().deadColumns();
  }

  /**
   * Each dependent column as a combination of others, ascending. Costs one back substitution for
   * each, unless already computed to choose the dependent columns.
   *
   * @throws io.sparqr.error.InsufficientMemoryException if the null space has more nonzeros than an
   *     eighth of the driver's heap holds
   */
  public List<Dependency> dependencies() {
    return open().dependencies();
  }

  /**
   * The {@link #dependencies()} if already computed to choose the dependent columns, otherwise an
   * empty list; never computes anything.
   */
  public List<Dependency> knownDependencies() {
    return open().knownDependencies();
  }

  /** The symbolic analysis in use. */
  public SymbolicAnalysis analysis() {
    return open().analysis();
  }

  /**
   * R, collected to the driver: at most n rows in position order, without those of dependent
   * columns. Takes about 32 bytes per entry during the transfer.
   *
   * @throws io.sparqr.error.InsufficientMemoryException if that is more than half of the driver's
   *     heap; thrown before any transfer
   */
  public RFactor collectR() {
    return open().collectR();
  }

  /**
   * Q'y for vectors y of the factorized rows, by the kept Q: needs {@code keepQ}. A P = Q R holds
   * for the weighted rows, so that y is not multiplied by sqrt(weight), as right-hand sides are;
   * rows of weight 0 are left out. With a ridge y is zero in the ridge rows.
   *
   * <p>Costs, for each 64 vectors, a pass over rows and vectors, their shuffle, and 4 flops for
   * each kept value of Q and vector; from 16 vectors on by matrix products (Schreiber and Van Loan
   * 1989, doi:10.1137/0910005). The driver has n values for each vector.
   *
   * @param vectors aligned with the factorized rows, as for {@link #solve(JavaRDD)}: k values a row
   * @return k vectors of size rank, in the order of the rows of {@link #collectR()}, and the norms
   *     of the other m - rank components
   * @throws IllegalStateException if Q was not kept, the factorization was loaded, or rows were
   *     appended to it
   * @throws io.sparqr.error.DimensionMismatchException if they are not aligned or differ in length
   * @throws io.sparqr.error.NonFiniteValueException if a value is not finite
   */
  public QTransposed applyQTransposed(JavaRDD<double[]> vectors) {
    return open().applyQTransposed(vectors);
  }

  /**
   * Thin Q, m x rank with orthonormal columns, times vectors c. As {@code qmult} of SuiteSparseQR
   * and NumPy's {@code Q @ c} for a reduced Q; A P = Q R, so that Q R x are the fitted values.
   * Needs {@code keepQ}. Cost as for {@link #applyQTransposed}, with a pass over the rows at the
   * first call only. The result stays stored, 8 bytes a row and vector, until {@link #close()} or
   * its {@code unpersist}.
   *
   * @param vectors k vectors of size rank, each in the order of the rows of {@link #collectR()}
   * @return k values for each row, in the partitions and the order of the factorized rows: rows of
   *     A times sqrt(weight), zeros for rows of weight 0; with a ridge the rows of A, of which Q
   *     alone is then not orthonormal
   * @throws IllegalStateException as there
   * @throws io.sparqr.error.DimensionMismatchException if a vector has another size
   * @throws io.sparqr.error.NonFiniteValueException if a value is not finite
   * @throws IllegalArgumentException if there is no vector
   */
  public JavaRDD<double[]> applyQ(double[][] vectors) {
    return open().applyQ(vectors);
  }

  /**
   * Columns of the thin Q, as {@link #applyQ} of unit vectors: column i belongs to row i of {@link
   * #collectR()}.
   *
   * @param columns each from 0 to rank - 1
   * @throws IndexOutOfBoundsException if one is not
   * @throws IllegalStateException as for {@link #applyQTransposed}
   * @throws IllegalArgumentException if there is no column
   */
  public JavaRDD<double[]> q(int... columns) {
    return open().q(columns);
  }

  /**
   * How good A P = Q R is: ||A P - Q R|| / ||A||, ||Q'Q - I||, and what Q' leaves below R's
   * diagonal. Needs {@code keepQ}. Costs, for each 64 probes, two products with Q, two with Q', one
   * with R and four passes over the rows.
   *
   * @param probes at least 1; with n or more the figures are exact but for rounding, with fewer
   *     they are estimates by random vectors, the same in every call
   * @throws IllegalArgumentException if there is no probe
   * @throws IllegalStateException as for {@link #applyQTransposed}
   */
  public QrCriteria criteria(int probes) {
    return open().criteria(probes);
  }

  /** The rows, for further passes over them; internal. */
  public Readings readings() {
    return open().readings();
  }

  /**
   * Appends rows: returns the factorization of the old rows and the new ones together, by QR of [R;
   * new rows]. The old rows are not read. Solution, residual norms, rank, errors, number of rows
   * and report equal those of a fit of all rows, up to rounding; a ridge counts once. The new rows
   * may have new columns, but not more right-hand sides.
   *
   * <p>This factorization stays unchanged and open, because blocks of the new one lost with an
   * executor are recomputed from it. Close it after the new one, or {@link #save(String)} the new
   * one and load it. Costs a factorization of rank + new rows; the driver needs 4 bytes per entry
   * of R for its pattern, or the graph of A'A if that is too much. Bjorck 1996, Numerical Methods
   * for Least Squares Problems, sec. 3.2.1.
   *
   * @param rows of {@link SparseRow} or a LabeledPoint; read three times
   * @return a new factorization, which must be closed as well. It has no rows to align right-hand
   *     sides with: {@link #solve(JavaRDD)} throws {@link IllegalStateException}, {@link
   *     #solveRelabeled(JavaRDD)} takes all rows
   * @throws IllegalArgumentException if there are new columns and the ridge has one lambda per
   *     column
   * @throws io.sparqr.error.DimensionMismatchException if the rows have a different number of
   *     right-hand sides, or declare fewer columns; other errors as in {@link
   *     SparseQRSolver#factorize(JavaRDD)}
   */
  public QRFactorization append(JavaRDD<?> rows) {
    return new QRFactorization(new Append(RowSource.of(rows), open().startingFactor()).run());
  }

  /** As above, from Scala's RDD. */
  public QRFactorization append(RDD<?> rows) {
    return append(rows.toJavaRDD());
  }

  /**
   * Saves R, Q'b and the report in a new folder of any Hadoop file system: one file for each task
   * of the factorization, written by the executors, with checksums, in a versioned format. A kept Q
   * is not saved. Takes about 8 bytes per entry of R. {@link GpuSparseQR#load} loads it.
   *
   * @param folder a path such as {@code hdfs:///models/last-night}
   * @throws java.nio.file.FileAlreadyExistsException if the folder exists
   * @throws IOException if it cannot be written
   */
  public void save(String folder) throws IOException {
    save(folder, false);
  }

  /**
   * As above, optionally over an existing factorization.
   *
   * @param overwrite whether an existing factorization may be replaced, which happens once the new
   *     one is complete. Any other existing content is left alone
   * @throws java.nio.file.FileAlreadyExistsException if existing content may not be replaced
   */
  public void save(String folder, boolean overwrite) throws IOException {
    open().save(folder, overwrite);
  }

  /** Releases everything on the cluster; idempotent. */
  @Override
  public void close() {
    closed = true;
    state.close();
  }
}
