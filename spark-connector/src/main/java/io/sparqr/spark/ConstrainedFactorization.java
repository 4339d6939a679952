/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import io.sparqr.spark.problem.ConstrainedState;
import io.sparqr.spark.report.LeastSquaresSolution;
import java.util.Objects;

/**
 * A least-squares problem with linear equality constraints C x = d, factorized: by a QR of [A; C],
 * with R on the executors and n times p numbers on the driver. Ranks and dependent columns are
 * those of [A; C]. Holds persisted RDDs until {@link #close()}; after that every other method
 * throws {@link IllegalStateException}. Not thread-safe.
 */
public final class ConstrainedFactorization implements AutoCloseable {

  private final ConstrainedState state;
  private boolean closed;

  ConstrainedFactorization(ConstrainedState state) {
    this.state = Objects.requireNonNull(state, "state");
  }

  private ConstrainedState open() {
    if (closed) {
      throw new IllegalStateException("this factorization is closed");
    }
    return state;
  }

  /**
   * The minimizer of ||b - A x|| subject to C x = d, which holds up to rounding. Computed at the
   * first call; later calls return the same object. The residual norm covers the rows of A only.
   */
  public LeastSquaresSolution solve() {
    return open().solve();
  }

  /**
   * Lagrange multipliers of right-hand side k, one per constraint: mu with A'(b - Ax) = C'mu (with
   * a ridge: A'(b - Ax) - lambda x = C'mu).
   */
  public double[] multipliers(int k) {
    return open().multipliers(k);
  }

  /**
   * Standard errors of x for right-hand side k: sigma times {@link #unscaledErrors()}, sigma^2 =
   * ||b - A x||^2 / (rows - rank + p). NaN in dependent columns, and everywhere if there are no
   * degrees of freedom.
   */
  public double[] standardErrors(int k) {
    return open().standardErrors(k);
  }

  /** {@link #standardErrors(int)} for the first right-hand side. */
  public double[] standardErrors() {
    return standardErrors(0);
  }

  /**
   * sqrt of the diagonal of G - G C'(C G C')^-1 C G, G = (A'A + C'C)^-1 with C's rows scaled:
   * standard errors for sigma = 1; 0 in columns fixed by the constraints, NaN in dependent ones.
   * Because it is a difference, its relative error is about eps G_jj divided by the square of the
   * result. Costs as much as {@link QRFactorization#unscaledErrors()} plus p back substitutions.
   */
  public double[] unscaledErrors() {
    return open().unscaledErrors();
  }

  /** Releases everything on the cluster; idempotent. */
  @Override
  public void close() {
    closed = true;
    state.close();
  }
}
