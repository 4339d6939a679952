/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import io.sparqr.spark.internal.Factorization;
import io.sparqr.spark.internal.RowSource;
import io.sparqr.spark.plan.Readings;
import io.sparqr.symbolic.SymbolicAnalysis;
import org.apache.spark.api.java.JavaRDD;

/**
 * AP = QR with R on the executors and Q'b beside it. Holds persisted RDDs and broadcasts until
 * {@link #close()}; every method throws {@link IllegalStateException} after that. Not for several
 * threads at once.
 */
public final class QRFactorization implements AutoCloseable {

  private final Factorization state;

  /** Wraps what the pipeline made; not for callers. */
  public QRFactorization(Factorization state) {
    this.state = state;
  }

  /**
   * The solution for the right-hand sides that came with the rows: back substitution, from the top
   * of the tree down. The first call computes, later ones return the same object.
   */
  public LeastSquaresSolution solve() {
    return state.solve();
  }

  /**
   * Solves for further right-hand sides. With {@code keepQ} by the kept Q, as accurately as for
   * those that came with the rows, one pass over the rows; otherwise by the corrected semi-normal
   * equations R'R x = A'b with one step of iterative refinement (Bjorck 1987, Linear Algebra Appl.
   * 88/89), two passes, which lose digits where the condition number is beyond about 1e7. The
   * report of the solution says which.
   *
   * @param rightHandSides aligned with the rows that were factorized: same number of partitions,
   *     same number of elements in each; every element has the same number of values
   * @throws io.sparqr.error.DimensionMismatchException if they are not aligned or not equally long
   */
  public LeastSquaresSolution solve(JavaRDD<double[]> rightHandSides) {
    return state.solveAligned(state.source().withLabels(rightHandSides));
  }

  /**
   * The same from rows that carry the new labels: same matrix and weights, in any order and
   * partitioning; always by the semi-normal equations.
   *
   * @param rows of {@link SparseRow} or a LabeledPoint
   */
  public LeastSquaresSolution solveRows(JavaRDD<?> rows) {
    return state.solveFurther(RowSource.of(rows));
  }

  /**
   * Standard errors of x for right-hand side k: sigma sqrt(diag((R'R)^-1)) with sigma^2 = ||b - A
   * x||^2 / (rows - rank); NaN in dead columns. The inverse is computed on the pattern of R alone
   * (Erisman and Tinney 1975), from the top of the tree down.
   */
  public double[] standardErrors(int k) {
    return state.standardErrors(k);
  }

  /** {@link #standardErrors(int)} for the first right-hand side. */
  public double[] standardErrors() {
    return standardErrors(0);
  }

  /**
   * The report as it stands: after the factorization without residual and solve times, after {@link
   * #solve()} complete.
   */
  public SolveReport summary() {
    return state.report();
  }

  /** Numerical rank. */
  public int rank() {
    return state.rank();
  }

  /** Original indices of the dead columns, ascending. */
  public int[] deadColumns() {
    return state.deadColumns();
  }

  /** The symbolic analysis that was used. */
  public SymbolicAnalysis analysis() {
    return state.analysis();
  }

  /**
   * R itself, collected to the driver: for tests and small problems. n rows at most, in position
   * order; rows of dead columns are missing.
   */
  public RFactor collectR() {
    return state.collectR();
  }

  /** What the rows were, for further passes over them; not for callers. */
  public Readings readings() {
    return state.readings();
  }

  /** Releases everything on the cluster; idempotent. */
  @Override
  public void close() {
    state.close();
  }
}
