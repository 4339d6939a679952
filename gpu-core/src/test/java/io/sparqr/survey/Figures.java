/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.survey;

import io.sparqr.numeric.FrontFactor;
import io.sparqr.numeric.NumericFactorization;
import io.sparqr.numeric.Tolerances;
import io.sparqr.sparse.CsrMatrix;

/**
 * Everything that is measured of one answer, from A, b, R, Q'b and x alone. Errors in units of eps.
 *
 * @param tail residual norm from the tail of Q'b
 * @param residual norm of r = b - A x
 * @param normal largest |a_j'r| / (||a_j|| s), s = ||r|| + ||b|| + ||D x||, D = diag(||a_k||), over
 *     live columns, and over dead ones after what was dropped of them (Higham 2002, section 20.3)
 * @param normalOfResidual the same with ||r|| for s, of live columns; large where ||r|| is rounding
 *     itself: printed, not judged
 * @param probe of R and Q'b
 * @param split | ||Q'b||^2 - ||b||^2 | / ||b||^2, the tail included
 * @param size ||b|| + ||D x||
 * @param clear whether the smallest diagonal entry of R is 1000 times the tolerance, what was
 *     dropped a tenth of it at most, and ||D x|| 10^10 ||b|| at most, which tells of a near
 *     dependence that no diagonal entry shows: no doubt of the rank
 */
record Figures(
    double tail,
    double residual,
    double normal,
    double normalOfResidual,
    RFactorProbe probe,
    double split,
    double size,
    boolean clear) {

  static Figures of(CsrMatrix a, double[] b, NumericFactorization f, double[] x) {
    double[] norm = Tolerances.columnNorms(a);
    double[] r = Compensated.residual(a, x, b);
    double[] g = Compensated.transposed(a, r);
    double normR = Compensated.norm(r);
    double normB = Compensated.norm(b);
    double size = Tolerances.size(a, b, x);
    boolean[] dead = new boolean[x.length];
    for (int j : f.deadColumns()) {
      dead[j] = true;
    }
    double dropped = dropped(f);
    double worst = 0;
    double ofResidual = 0;
    for (int j = 0; j < g.length; j++) {
      if (norm[j] != 0 && !dead[j]) {
        worst = Math.max(worst, Math.abs(g[j]) / norm[j] / (normR + size));
        ofResidual = Math.max(ofResidual, g[j] == 0 ? 0 : Math.abs(g[j]) / norm[j] / normR);
      } else if (norm[j] != 0) {
        // r is orthogonal to what was kept of the column; of unit columns that are not, S = I
        double beyond = Math.abs(g[j]) - dropped / f.factors()[j] * normR;
        worst = Math.max(worst, Double.isNaN(beyond) ? beyond : beyond / norm[j] / (normR + size));
      }
    }
    double squares = f.residualSquares()[0];
    var split = new Compensated.Sums(1);
    split.add(0, squares, 1);
    for (FrontFactor front : f.fronts()) {
      for (double c : front.rhs()) {
        split.add(0, c, c);
      }
    }
    double whole = Math.abs(Math.sqrt(split.get(0)) - normB) / (normB == 0 ? 1 : normB);
    return new Figures(
        Math.sqrt(squares),
        normR,
        worst / Tolerances.EPS,
        ofResidual / Tolerances.EPS,
        RFactorProbe.of(a, b, f, new SplitMix(7)),
        2 * whole / Tolerances.EPS,
        size,
        isClear(f, size / normB));
  }

  /** What a dead column may have lost, in its scaled units: the tolerance at most (Heath 1982). */
  static double dropped(NumericFactorization f) {
    return Math.min(f.summary().droppedNorm(), Math.max(0, f.rankTolerance()));
  }

  /**
   * See {@link #clear}.
   *
   * @param relativeSize {@link #size} / ||b||
   */
  static boolean isClear(NumericFactorization f, double relativeSize) {
    if (!(relativeSize <= 1e10)) {
      return false;
    }
    double least = Double.POSITIVE_INFINITY;
    for (FrontFactor front : f.fronts()) {
      int at = 0;
      for (int k : front.livePivot()) {
        least = Math.min(least, front.values().get(at));
        at += front.fn() - k;
      }
    }
    double tolerance = Math.max(0, f.rankTolerance());
    // of all dead columns together; each one's share is about the root's
    double share = f.summary().droppedNorm() / Math.sqrt(Math.max(1, f.deadColumns().length));
    return least >= 1000 * tolerance && share <= tolerance / 10;
  }
}
