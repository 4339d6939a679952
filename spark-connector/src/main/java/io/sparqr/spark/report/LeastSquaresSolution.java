/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.report;

import io.sparqr.error.NonFiniteSolutionException;
import java.io.Serializable;

/**
 * The minimizer of ||sqrt(W) (b - A x)||, in the caller's column order and units. For a
 * rank-deficient problem it is a basic solution, with zeros in the dependent columns, or on request
 * the solution of least 2-norm.
 *
 * @param solutions one x of n entries for each right-hand side
 * @param residualNorms ||sqrt(W) (b - A x)|| for each right-hand side, without the ridge rows
 * @param rank the numerical rank
 * @param deadColumns original indices of the columns that depend on others, ascending
 * @param report figures on the solve
 */
public record LeastSquaresSolution(
    double[][] solutions, double[] residualNorms, int rank, int[] deadColumns, SolveReport report)
    implements Serializable {

  /**
   * Checks that all figures are finite, as every solve does before it returns one.
   *
   * @return this
   * @throws NonFiniteSolutionException that names the column, or the right-hand side whose residual
   *     norm it is
   */
  public LeastSquaresSolution requireFinite() {
    for (int k = 0; k < solutions.length; k++) {
      double[] x = solutions[k];
      for (int j = 0; j < x.length; j++) {
        if (!Double.isFinite(x[j])) {
          throw new NonFiniteSolutionException(
              Double.isNaN(x[j])
                  ? "x of column %d is not a number: a product left the range of doubles"
                      .formatted(j)
                  : "x of column %d is beyond the range of doubles".formatted(j),
              j,
              k);
        }
      }
      if (k < residualNorms.length && !Double.isFinite(residualNorms[k])) {
        throw new NonFiniteSolutionException(
            "the residual norm of right-hand side %d is beyond the range of doubles".formatted(k),
            -1,
            k);
      }
    }
    return this;
  }

  /** x for the first right-hand side; n entries. */
  public double[] x() {
    return solutions[0];
  }

  /** x for right-hand side k; n entries. */
  public double[] x(int k) {
    return solutions[k];
  }

  /** Residual norm of the first right-hand side. */
  public double residualNorm() {
    return residualNorms[0];
  }

  /** Sizes of the solution, and its report as text. */
  @Override
  public String toString() {
    return "LeastSquaresSolution[%,d coefficients, %d right-hand side(s), rank %,d]%n%s"
        .formatted(rhsCount() == 0 ? 0 : x().length, rhsCount(), rank, report.toText());
  }

  /** Number of right-hand sides. */
  public int rhsCount() {
    return solutions.length;
  }
}
