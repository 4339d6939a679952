/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import io.sparqr.spark.internal.FactorState;
import io.sparqr.spark.plan.Readings;
import io.sparqr.spark.rows.RowSource;
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

  /** What it has, unless it is closed. */
  private FactorState open() {
    if (closed) {
      throw new IllegalStateException("this factorization is closed");
    }
    return state;
  }

  /**
   * The solution for the right-hand sides that came with the rows: back substitution, from the top
   * of the tree down. Computed at the first call; later calls return the same object.
   */
  public LeastSquaresSolution solve() {
    return open().solve();
  }

  /**
   * Solves for further right-hand sides. With {@code keepQ} it uses the kept Q, in one pass over
   * the rows and as accurately as for the original right-hand sides; otherwise it uses the
   * corrected semi-normal equations R'R x = A'b with one step of iterative refinement (Bjorck 1987,
   * Linear Algebra Appl. 88/89), in two passes, which lose digits if the condition number exceeds
   * about 1e7. The report says which way was taken. {@code refinement} and {@code check} apply here
   * too; the correction counts as the first step of refinement.
   *
   * @param rightHandSides aligned with the rows that were factorized: same number of partitions,
   *     same number of elements in each; every element has the same number of values
   * @throws io.sparqr.error.DimensionMismatchException if they are not aligned or not equally long
   */
  public LeastSquaresSolution solve(JavaRDD<double[]> rightHandSides) {
    return open().solveAligned(state.source().withLabels(rightHandSides));
  }

  /**
   * The same for right-hand sides given as complete rows: the matrix and weights of this
   * factorization with new labels, in any order and partitioning. Always uses the semi-normal
   * equations. Rows of another matrix are refused if their number or ||A||_F differs.
   *
   * @param rows of {@link SparseRow} or a LabeledPoint
   * @throws IllegalArgumentException if these are the rows of another matrix
   * @throws io.sparqr.error.DimensionMismatchException if the number of rows or columns differs
   */
  public LeastSquaresSolution solveRelabeled(JavaRDD<?> rows) {
    return open().solveFurther(RowSource.of(rows));
  }

  /** The same from Scala's RDD. */
  public LeastSquaresSolution solveRelabeled(RDD<?> rows) {
    return solveRelabeled(rows.toJavaRDD());
  }

  /**
   * Standard errors of x for right-hand side k: sigma sqrt(diag((A'A)^-1)) over the live columns,
   * with the R that gave x (under a ridge (A'A + lambda I)^-1) and sigma^2 = ||b - A x||^2 / (rows
   * - rank). NaN in dead columns, and everywhere without degrees of freedom, rows = rank. See
   * {@link #unscaledErrors()} for the cost.
   */
  public double[] standardErrors(int k) {
    return open().standardErrors(k);
  }

  /**
   * sqrt(diag((A'A)^-1)) over the live columns, NaN in dead ones: standard errors for sigma = 1.
   * Computed at the first call and kept.
   *
   * <p>Norms of the rows of R^-1, by the selected inverse on the pattern of R (Erisman and Tinney
   * 1975, doi:10.1145/360680.360704) from the top of the tree down, one Spark job a level: about as
   * many flops as the factorization. It is computed as a square root, so that a relative error is
   * about eps times the condition number of the scaled columns, not its square. A column singleton
   * costs O(1) more where the live columns that its row leads to meet in one front (a level with
   * one observation and an intercept), otherwise a forward substitution with R', in batches of 64
   * and equal ones once: with many such singletons {@code singletons(false)} is faster.
   */
  public double[] unscaledErrors() {
    return open().unscaledErrors();
  }

  /** {@link #standardErrors(int)} for the first right-hand side. */
  public double[] standardErrors() {
    return standardErrors(0);
  }

  /**
   * Leverages a_i'(A'A)^-1 a_i of the weighted rows that were factorized, over the live columns
   * (under a ridge with (A'A + lambda I)^-1): the diagonal of the hat matrix, its sum the rank. One
   * element a partition of the rows: the leverages of its rows of positive weight, in order. Good
   * until {@link #close()}.
   *
   * <p>The columns of a row meet in one front, where the selected inverse is known: the first call
   * computes, with the {@link #unscaledErrors()} of all columns beside, for their cost, a pass over
   * the rows and their shuffle; for one row as many flops as it has entries, times the rows of the
   * inverse's root on its front, twice.
   *
   * @throws io.sparqr.error.InputChangedException if the rows are not those any more that were
   *     factorized
   */
  public JavaRDD<double[]> leverages() {
    return open().leverages();
  }

  /**
   * (A'A)^-1 u over the live columns (under a ridge (A'A + lambda I)^-1) for sparse vectors u in
   * the caller's columns and units. Two triangular solves, one Spark job a level each; n values a
   * vector on the driver, twice: some tens of vectors at a time.
   *
   * @param vectors their indices and values; labels and weights are ignored
   * @return n values a vector, 0 in dead columns
   * @throws IndexOutOfBoundsException if a vector has an entry beyond the columns
   */
  public double[][] inverseTimes(List<SparseRow> vectors) {
    return open().inverseTimes(vectors);
  }

  /** R^-T u for sparse vectors u, one triangular solve: as {@link #inverseTimes}, half of it. */
  public HalfSolve halfSolve(List<SparseRow> vectors) {
    return open().halfSolve(vectors);
  }

  /**
   * The report as it stands: after the factorization without residual and solve times, after {@link
   * #solve()} complete.
   */
  public SolveReport summary() {
    return open().report();
  }

  /** Numerical rank. */
  public int rank() {
    return open().rank();
  }

  /** Original indices of the dead columns, ascending. */
  public int[] deadColumns() {
    return open().deadColumns();
  }

  /**
   * Each dead column as a combination of live ones, ascending. Costs one back substitution for
   * each, unless they were computed before to choose the dead columns.
   *
   * @throws io.sparqr.error.InsufficientMemoryException if the null space has more nonzeros than an
   *     eighth of the driver's heap holds
   */
  public List<Dependency> dependencies() {
    return open().dependencies();
  }

  /**
   * The {@link #dependencies()} if they were computed to choose the dead columns, otherwise an
   * empty list. Costs nothing.
   */
  public List<Dependency> knownDependencies() {
    return open().knownDependencies();
  }

  /** The symbolic analysis that was used. */
  public SymbolicAnalysis analysis() {
    return open().analysis();
  }

  /**
   * R itself, collected to the driver. n rows at most, in position order; rows of dead columns are
   * missing. About 32 bytes an entry while it comes.
   *
   * @throws io.sparqr.error.InsufficientMemoryException if that is more than half of the driver's
   *     heap; nothing was sent then
   */
  public RFactor collectR() {
    return open().collectR();
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
   * <p>This factorization stays unchanged and open, because blocks of the new one that are lost
   * with an executor are computed again from it. Close it after the new one, or {@link
   * #save(String)} the new one and load it. Costs a factorization of rank + new rows; the driver
   * takes 4 bytes an entry of R for their pattern, or the graph of A'A where that is too much.
   * Bjorck 1996, Numerical Methods for Least Squares Problems, sec. 3.2.1.
   *
   * @param rows of {@link SparseRow} or a LabeledPoint; read three times
   * @return a new factorization; to be closed too. It has no rows to be aligned with: {@link
   *     #solve(JavaRDD)} throws {@link IllegalStateException}, {@link #solveRelabeled(JavaRDD)}
   *     takes all rows
   * @throws IllegalArgumentException if there are new columns and the ridge has one lambda a column
   * @throws io.sparqr.error.DimensionMismatchException if the rows have another number of
   *     right-hand sides, or know of fewer columns; other errors as {@link
   *     SparseQRSolver#factorize(JavaRDD)}
   */
  public QRFactorization append(JavaRDD<?> rows) {
    return new QRFactorization(open().append(RowSource.of(rows)));
  }

  /** The same from Scala's RDD. */
  public QRFactorization append(RDD<?> rows) {
    return append(rows.toJavaRDD());
  }

  /**
   * Saves R, Q'b and the report in a new folder of any Hadoop file system: one file for each task
   * of the factorization, written by the executors, with checksums, in a versioned format. A kept Q
   * is not saved. About 8 bytes an entry of R. {@link GpuSparseQR#load} loads it.
   *
   * @param folder such as {@code hdfs:///models/last-night}
   * @throws java.nio.file.FileAlreadyExistsException if the folder exists
   * @throws IOException if it cannot be written
   */
  public void save(String folder) throws IOException {
    save(folder, false);
  }

  /**
   * The same.
   *
   * @param overwrite whether an existing factorization may be replaced, as soon as the new one is
   *     complete. Any other existing content is left alone
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
