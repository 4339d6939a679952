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
    double norm = Tolerances.frobenius(a);
    double normR = Tolerances.norm(r);
    double size = Tolerances.norm(b) + norm * Tolerances.norm(solution.x());
    double backward = Tolerances.of(4, 4, norm * size);
    assertThat(Tolerances.norm(a.multiplyTransposed(r)))
        .as("A'r, ||r|| = %s", normR)
        .isLessThanOrEqualTo(1e-12 * norm * normR + backward);
    double rounding = Tolerances.of(a.rows(), a.columns(), size);
    assertThat(solution.residualNorm()[0])
        .as("residual norm from the tail and from b - Ax")
        .isCloseTo(normR, within(rounding));
    return rounding;
  }
}
