/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import io.sparqr.spark.internal.ConstrainedState;
import java.util.Objects;

/**
 * A least-squares problem with linear equality constraints C x = d, factorized: QR of A with the
 * rows of C below, R on the executors, n times p numbers on the driver. Ranks and dead columns are
 * those of [A; C]. Holds persisted RDDs until {@link #close()}; every method but close itself
 * throws {@link IllegalStateException} after that. Not for several threads at once.
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
   * The minimizer of ||b - A x|| with C x = d, met to rounding. The first call computes, later ones
   * return the same object. The residual norm is that of the rows of A.
   */
  public LeastSquaresSolution solve() {
    return open().solve();
  }

  /**
   * Lagrange multipliers of right-hand side k, one a constraint: mu with A'(b - Ax) = C'mu (under a
   * ridge less lambda x on the left).
   */
  public double[] multipliers(int k) {
    return open().multipliers(k);
  }

  /**
   * Standard errors of x for right-hand side k: sigma times {@link #unscaledErrors()}, sigma^2 =
   * ||b - A x||^2 / (rows - rank + p). NaN in dead columns, and everywhere without degrees of
   * freedom.
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
   * errors for sigma = 1, 0 in columns that the constraints fix, NaN in dead ones. A difference:
   * its relative error is about eps G_jj over the result's square. Cost as {@link
   * QRFactorization#unscaledErrors()} and p back substitutions.
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
