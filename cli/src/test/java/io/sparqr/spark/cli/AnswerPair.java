/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import io.sparqr.numeric.Tolerances;
import io.sparqr.spark.report.LeastSquaresSolution;
import io.sparqr.sparse.CsrMatrix;
import java.util.Locale;

/**
 * Two answers to one problem, each judged by itself and then compared, by bounds that do not grow
 * with the problem: of full column rank each has a column-wise backward error of at most {@link
 * Tolerances#UNITS} eps, and the residual norm that it names is that of its b - Ax; ranks are equal
 * and residual norms agree. Of a rank-deficient problem a dead column may have lost a remainder of
 * the rank tolerance, so that its a_j'r is that much larger.
 *
 * @param first such as the CPU's
 * @param second such as the device's
 */
record AnswerPair(
    CsrMatrix a, double[] b, LeastSquaresSolution first, LeastSquaresSolution second) {

  /** Units of eps that an answer's backward error may have. */
  private double allowed(LeastSquaresSolution s) {
    return Tolerances.UNITS + dropped(s) / Tolerances.EPS;
  }

  /** What rank detection may have dropped of a column, relatively. */
  private double dropped(LeastSquaresSolution s) {
    return s.rank() == a.columns() ? 0 : Math.max(0, s.report().rankTest().tolerance());
  }

  /** Whether both are right. NaN is not. */
  boolean same() {
    return first.rank() == second.rank()
        && right(first)
        && right(second)
        && close(first.residualNorm(), second.residualNorm(), second);
  }

  private boolean right(LeastSquaresSolution s) {
    return backward(s) <= Tolerances.UNITS
        && Tolerances.backwardError(a, b, s.x()) <= allowed(s)
        && close(s.residualNorm(), residual(s), s);
  }

  /** Of the live columns. */
  private double backward(LeastSquaresSolution s) {
    return Tolerances.backwardError(a, b, s.x(), s.deadColumns());
  }

  private boolean close(double norm, double other, LeastSquaresSolution s) {
    double size = Tolerances.size(a, b, s.x());
    double most = Tolerances.ofResidual(norm, size) + dropped(s) * size;
    return Math.abs(norm - other) <= most;
  }

  private double residual(LeastSquaresSolution s) {
    double[] r = a.multiply(s.x());
    for (int i = 0; i < r.length; i++) {
      r[i] = b[i] - r[i];
    }
    return Tolerances.norm(r);
  }

  @Override
  public String toString() {
    return String.format(
        Locale.ROOT,
        "backward errors %.1f and %.1f eps of %.0f, residual norms differ by %.1e",
        backward(first),
        backward(second),
        Tolerances.UNITS,
        Math.abs(first.residualNorm() - second.residualNorm()) / first.residualNorm());
  }
}
