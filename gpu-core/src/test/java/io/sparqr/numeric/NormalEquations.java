/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.sparse.CsrMatrix;

/** The oracle that needs no reference: a least squares solution leaves A'r = 0. */
final class NormalEquations {

  private NormalEquations() {}

  /** A'r = 0 and ||r|| from the tail; returns the rounding error that ||r|| may have. */
  static double check(CsrMatrix a, double[] b, LocalSolver.Solution solution) {
    double[] r = a.multiply(solution.x());
    for (int i = 0; i < r.length; i++) {
      r[i] = b[i] - r[i];
    }
    double normR = Tolerances.norm(r);
    assertThat(Tolerances.backwardError(a, b, solution.x()))
        .as("A'r column by column, in units of eps; ||r|| = %s", normR)
        .isLessThanOrEqualTo(Tolerances.UNITS);
    double rounding = Tolerances.ofResidual(normR, Tolerances.size(a, b, solution.x()));
    assertThat(solution.residualNorm()[0])
        .as("residual norm from the tail and from b - Ax")
        .isCloseTo(normR, within(rounding));
    return rounding;
  }
}
