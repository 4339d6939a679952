/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.internal;

import io.sparqr.error.InsufficientMemoryException;
import io.sparqr.numeric.dense.BlasLoader;
import io.sparqr.numeric.dense.DenseKernels;

/**
 * Z = (R'R)^-1 on one front, from R's rows of the front and from Z22, the same on the front's tail,
 * which its parent knows: with W = R11^-1 R12 and V = R11^-1,
 *
 * <pre>
 *   Z12 = -W Z22,   Z11 = V V' + W Z22 W'
 * </pre>
 *
 * (the supernodal form of Erisman and Tinney 1975, doi:10.1145/360680.360704). Dead pivots have
 * zero rows and columns. r cn (r + 2 cn) + r^3 flops for r live pivots.
 */
final class FrontInverse {

  private final int fn;
  private final int fp;
  private final int cn;
  private final double[] z;

  /**
   * Computes Z.
   *
   * @param live local columns of the live pivots, ascending
   * @param rows size live.length; row i: values of columns live[i] .. fn-1 at [live[i], fn)
   * @param z22 cn x cn, symmetric
   */
  FrontInverse(int fp, int fn, int[] live, double[][] rows, double[] z22) {
    this.fp = fp;
    this.fn = fn;
    this.cn = fn - fp;
    if ((long) fn * fn > Integer.MAX_VALUE - 8) {
      throw new InsufficientMemoryException(
          "standard errors: the inverse on a front of " + fn + " columns exceeds an array",
          8L * fn * fn,
          8L * Integer.MAX_VALUE);
    }
    z = new double[fn * fn];
    int r = live.length;
    // column-major transposes: row i of W and V is column i of these
    double[] w = new double[cn * r];
    double[] v = new double[r * r];
    solve(live, rows, w, v);
    DenseKernels kernels = BlasLoader.kernels();
    double[] t = new double[cn * r];
    double[] z11 = new double[r * r];
    if (r > 0) {
      kernels.gemm(true, r, r, r, 1, v, 0, r, v, 0, r, 0, z11, 0, r);
      if (cn > 0) {
        kernels.gemm(false, cn, r, cn, 1, z22, 0, cn, w, 0, cn, 0, t, 0, cn);
        kernels.gemm(true, r, r, cn, 1, w, 0, cn, t, 0, cn, 1, z11, 0, r);
      }
    }
    scatter(live, z11, t, z22);
  }

  private void solve(int[] live, double[][] rows, double[] w, double[] v) {
    int r = live.length;
    for (int i = r - 1; i >= 0; i--) {
      double[] row = rows[i];
      System.arraycopy(row, fp, w, i * cn, cn);
      v[i * r + i] = 1;
      for (int k = i + 1; k < r; k++) {
        double a = row[live[k]];
        if (a != 0) {
          subtract(a, w, k * cn, w, i * cn, cn);
          subtract(a, v, k * r + k, v, i * r + k, r - k);
        }
      }
      double inverse = 1 / row[live[i]];
      for (int j = 0; j < cn; j++) {
        w[i * cn + j] *= inverse;
      }
      for (int k = i; k < r; k++) {
        v[i * r + k] *= inverse;
      }
    }
  }

  private static void subtract(double a, double[] x, int xAt, double[] y, int yAt, int count) {
    for (int j = 0; j < count; j++) {
      y[yAt + j] -= a * x[xAt + j];
    }
  }

  private void scatter(int[] live, double[] z11, double[] t, double[] z22) {
    int r = live.length;
    for (int i = 0; i < r; i++) {
      for (int k = 0; k < r; k++) {
        z[live[i] + live[k] * fn] = 0.5 * (z11[i + k * r] + z11[k + i * r]);
      }
      for (int j = 0; j < cn; j++) {
        double value = -t[j + i * cn];
        z[live[i] + (fp + j) * fn] = value;
        z[fp + j + live[i] * fn] = value;
      }
    }
    for (int j = 0; j < cn; j++) {
      System.arraycopy(z22, j * cn, z, fp + (fp + j) * fn, cn);
    }
  }

  /** Diagonal entry of local column k; NaN-free, 0 where dead. */
  double diagonal(int k) {
    return z[k + k * fn];
  }

  /** Z on a child's tail, whose columns are the local columns given: full, symmetric. */
  double[] restrict(int[] local) {
    int count = local.length;
    double[] out = new double[count * count];
    for (int j = 0; j < count; j++) {
      for (int i = 0; i < count; i++) {
        out[i + j * count] = z[local[i] + local[j] * fn];
      }
    }
    return out;
  }
}
