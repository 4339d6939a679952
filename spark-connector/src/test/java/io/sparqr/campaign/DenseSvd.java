/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign;

import dev.ludovic.netlib.lapack.JavaLAPACK;
import dev.ludovic.netlib.lapack.LAPACK;
import io.sparqr.sparse.CsrMatrix;
import org.netlib.util.intW;

/**
 * The singular value decomposition A D = U S V' by LAPACK's dgesdd, D powers of two: 1, or such
 * that columns have norms in [1, 2). It shares nothing with the solver.
 */
final class DenseSvd {

  private static final LAPACK LAPACK_IN_JAVA = JavaLAPACK.getInstance();

  private final int m;
  private final int n;
  private final int k;

  /** size n; column j was multiplied by 2^-exponent[j]. */
  private final int[] exponent;

  private final double[] sigma;
  private final double[] u;
  private final double[] vt;

  private DenseSvd(int m, int n, int[] exponent, double[] columnMajor) {
    this.m = m;
    this.n = n;
    this.k = Math.min(m, n);
    this.exponent = exponent;
    this.sigma = new double[k];
    this.u = new double[m * k];
    this.vt = new double[k * n];
    if (k > 0) {
      decompose(columnMajor);
    }
  }

  private void decompose(double[] columnMajor) {
    double[] ask = new double[1];
    var info = new intW(0);
    int[] integers = new int[8 * k];
    // one at a time: the translated Fortran has static variables
    synchronized (LAPACK_IN_JAVA) {
      LAPACK_IN_JAVA.dgesdd("S", m, n, columnMajor, m, sigma, u, m, vt, k, ask, -1, integers, info);
      double[] work = new double[(int) ask[0]];
      LAPACK_IN_JAVA.dgesdd(
          "S", m, n, columnMajor, m, sigma, u, m, vt, k, work, work.length, integers, info);
    }
    if (info.val != 0) {
      throw new IllegalStateException("dgesdd: info = " + info.val);
    }
  }

  /** Of A with all entries times one power of two, as NumPy sees it. */
  static DenseSvd plain(CsrMatrix a) {
    int largest = Integer.MIN_VALUE;
    for (int e = 0; e < a.nonzeros(); e++) {
      largest =
          Math.max(largest, a.values()[e] == 0 ? largest : Scaled.of(a.values()[e]).exponent());
    }
    int[] exponent = new int[a.columns()];
    java.util.Arrays.fill(exponent, largest == Integer.MIN_VALUE ? 0 : largest);
    return of(a, exponent);
  }

  /** Of A with columns of norms in [1, 2). */
  static DenseSvd equilibrated(CsrMatrix a) {
    return of(a, columnExponents(a));
  }

  private static DenseSvd of(CsrMatrix a, int[] exponent) {
    double[] dense = new double[a.rows() * a.columns()];
    for (int i = 0; i < a.rows(); i++) {
      for (int e = a.rowStart()[i]; e < a.rowStart()[i + 1]; e++) {
        int j = a.columnIndex()[e];
        dense[i + j * a.rows()] = Scaled.of(a.values()[e]).in(exponent[j]);
      }
    }
    return new DenseSvd(a.rows(), a.columns(), exponent, dense);
  }

  /** The exponents of the columns' norms; 0 for a zero column. */
  static int[] columnExponents(CsrMatrix a) {
    CsrMatrix t = a.transpose();
    int[] exponent = new int[a.columns()];
    for (int j = 0; j < exponent.length; j++) {
      var column = new Scaled[t.rowStart()[j + 1] - t.rowStart()[j]];
      for (int e = 0; e < column.length; e++) {
        column[e] = Scaled.of(t.values()[t.rowStart()[j] + e]);
      }
      exponent[j] = Scaled.norm(column).exponent();
    }
    return exponent;
  }

  /** Singular values, descending. */
  double[] sigma() {
    return sigma;
  }

  /** NumPy's tolerance of matrix_rank, max(m, n) eps sigma_1. */
  double tolerance() {
    return k == 0 ? 0 : Math.max(m, n) * Math.ulp(1.0) * sigma[0];
  }

  /** Singular values above a threshold. */
  int above(double threshold) {
    int r = 0;
    while (r < k && sigma[r] > threshold) {
      r++;
    }
    return r;
  }

  /** NumPy's matrix_rank. */
  int rank() {
    return above(tolerance());
  }

  /** sigma_1 / sigma_r; 1 for r = 0. */
  double condition(int r) {
    return r == 0 ? 1 : sigma[0] / sigma[r - 1];
  }

  /** x = D V_r S_r^-1 U_r' b; may overflow. */
  double[] solve(double[] b, int r) {
    double[] c = new double[r];
    var rhs = new Scaled[m];
    int most = Integer.MIN_VALUE;
    for (int i = 0; i < m; i++) {
      rhs[i] = Scaled.of(b[i]);
      most = b[i] == 0 ? most : Math.max(most, rhs[i].exponent());
    }
    int unit = most == Integer.MIN_VALUE ? 0 : most;
    for (int q = 0; q < r; q++) {
      for (int i = 0; i < m; i++) {
        c[q] += u[i + q * m] * rhs[i].in(unit);
      }
      c[q] /= sigma[q];
    }
    double[] x = new double[n];
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int q = 0; q < r; q++) {
        sum += vt[q + j * k] * c[q];
      }
      x[j] = Scaled.of(sum, unit - exponent[j]).value();
    }
    return x;
  }
}
