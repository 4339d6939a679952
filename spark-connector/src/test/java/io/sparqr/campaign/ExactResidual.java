/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign;

import io.sparqr.sparse.CsrMatrix;

/** b - A x evaluated without rounding, for the numbers that a report states about x. */
final class ExactResidual {

  private ExactResidual() {}

  /** b - A x, each entry rounded once; x and b finite. */
  static Scaled[] of(CsrMatrix a, double[] x, double[] b) {
    var r = new Scaled[a.rows()];
    var sum = new ExactSum();
    for (int i = 0; i < r.length; i++) {
      sum.clear();
      sum.add(b[i]);
      for (int k = a.rowStart()[i]; k < a.rowStart()[i + 1]; k++) {
        sum.add(-a.values()[k], x[a.columnIndex()[k]]);
      }
      r[i] = sum.value();
    }
    return r;
  }

  /** ||W^(1/2) (b - A x)||. */
  static Scaled norm(CsrMatrix a, double[] x, double[] b, double[] weights) {
    return weighted(of(a, x, b), weights);
  }

  /** ||W^(1/2) r||. */
  static Scaled weighted(Scaled[] r, double[] weights) {
    var v = new Scaled[r.length];
    for (int i = 0; i < r.length; i++) {
      v[i] = r[i].times(Math.sqrt(weights[i]));
    }
    return Scaled.norm(v);
  }

  /** ||A'r|| / (||A||_F ||r||); NaN for r = 0. */
  static double gradient(CsrMatrix a, Scaled[] r) {
    Scaled norm = Scaled.norm(r);
    CsrMatrix t = a.transpose();
    var g = new Scaled[t.rows()];
    var entries = new Scaled[t.nonzeros()];
    var sum = new ExactSum();
    for (int j = 0; j < g.length; j++) {
      sum.clear();
      for (int k = t.rowStart()[j]; k < t.rowStart()[j + 1]; k++) {
        // scaled to r's size, where what underflows does not count
        sum.add(t.values()[k], r[t.columnIndex()[k]].in(norm.exponent()));
        entries[k] = Scaled.of(t.values()[k]);
      }
      g[j] = sum.value();
    }
    Scaled product = Scaled.norm(entries).times(norm.mantissa());
    return Scaled.norm(g).in(product.exponent()) / product.mantissa();
  }

  /** ||b|| + ||D x||, D the norms of A's columns, all weighted: what rounding is measured by. */
  static Scaled size(CsrMatrix a, double[] x, double[] b, double[] weights) {
    var rhs = new Scaled[b.length];
    var entries = new Scaled[a.nonzeros()];
    for (int i = 0; i < rhs.length; i++) {
      double root = Math.sqrt(weights[i]);
      rhs[i] = Scaled.of(b[i]).times(root);
      for (int k = a.rowStart()[i]; k < a.rowStart()[i + 1]; k++) {
        // below the least normal number x has an absolute error
        double xj = Math.max(Math.abs(x[a.columnIndex()[k]]), Double.MIN_NORMAL);
        entries[k] = Scaled.of(a.values()[k]).times(root).times(xj);
      }
    }
    return Scaled.norm(rhs).plus(Scaled.norm(entries));
  }
}
