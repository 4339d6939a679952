/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.dense;

import dev.ludovic.netlib.lapack.JavaLAPACK;
import dev.ludovic.netlib.lapack.LAPACK;
import org.netlib.util.intW;

/**
 * Factorizations of a small square matrix, as R of a tall one, by netlib's LAPACK in Java: the same
 * bits on every machine. O(n^3), column-major.
 */
public final class SmallDense {

  /** Entries from here to its inverse need no scaling. */
  private static final double PLAIN = 0x1p-400;

  private SmallDense() {}

  /**
   * QR with column pivoting (Businger and Golub 1965; LAPACK's dgeqp3).
   *
   * @param r n x n; not changed
   * @param tolerance of a pivot, relative to the largest column norm
   * @param pivot size n; on return the columns in the order of their pivots
   * @return the rank: pivots above the tolerance, in a row from the first
   */
  public static int rank(double[] r, int n, double tolerance, int[] pivot) {
    double[] a = r.clone();
    double[] work = new double[Math.max(64, 3 * n + 1) * 16];
    java.util.Arrays.fill(pivot, 0);
    JavaLAPACK.getInstance()
        .dgeqp3(n, n, a, n, pivot, new double[n], work, work.length, new intW(0));
    int rank = 0;
    while (rank < n && Math.abs(a[rank + rank * n]) > tolerance * Math.abs(a[0])) {
      rank++;
    }
    for (int k = 0; k < n; k++) {
      pivot[k]--;
    }
    return rank;
  }

  /**
   * R = U S V' by dgesdd.
   *
   * @param r n x n; not changed
   * @param sigma size n, receives the singular values, descending
   * @param u n x n, receives U
   * @param vt n x n, receives V'
   * @throws IllegalStateException if LAPACK does not converge
   */
  public static void svd(double[] r, int n, double[] sigma, double[] u, double[] vt) {
    var info = new intW(0);
    double[] work = new double[1];
    int[] iwork = new int[8 * n];
    double[] a = r.clone();
    LAPACK lapack = JavaLAPACK.getInstance();
    lapack.dgesdd("S", n, n, a, n, sigma, u, n, vt, n, work, -1, iwork, info);
    work = new double[(int) work[0]];
    lapack.dgesdd("S", n, n, a, n, sigma, u, n, vt, n, work, work.length, iwork, info);
    if (info.val != 0) {
      throw new IllegalStateException("LAPACK's dgesdd ends with " + info.val);
    }
  }

  /**
   * Singular values and V' alone, to the bits of {@link #svd}, in two thirds of its time: its steps
   * (dgebrd, dbdsdc, dormbr) without U.
   *
   * @param r n x n; not changed
   * @param sigma size n, receives the singular values, descending
   * @param vt n x n, receives V'
   * @throws IllegalStateException if LAPACK does not converge
   */
  public static void svdWithoutU(double[] r, int n, double[] sigma, double[] vt) {
    double most = 0;
    for (double x : r) {
      most = Math.max(most, Math.abs(x));
    }
    if (!(most >= PLAIN && most <= 1 / PLAIN)) {
      // dgesdd scales first; zeros and what is not finite are also for it to tell
      svd(r, n, sigma, new double[n * n], vt);
      return;
    }
    LAPACK lapack = JavaLAPACK.getInstance();
    var info = new intW(0);
    double[] a = r.clone();
    double[] e = new double[n];
    double[] tauQ = new double[n];
    double[] tauP = new double[n];
    double[] work = new double[n * (3 * n + 4) + 64 * n];
    lapack.dgebrd(n, n, a, n, sigma, e, tauQ, tauP, work, work.length, info);
    double[] left = new double[n * n];
    int[] iwork = new int[8 * n];
    lapack.dbdsdc(
        "U", "I", n, sigma, e, left, n, vt, n, new double[1], new int[1], work, iwork, info);
    if (info.val != 0) {
      throw new IllegalStateException("LAPACK's dbdsdc ends with " + info.val);
    }
    lapack.dormbr("P", "R", "T", n, n, n, a, n, tauP, vt, n, work, work.length, info);
  }
}
