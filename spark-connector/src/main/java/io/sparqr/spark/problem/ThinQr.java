/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.problem;

/**
 * QR of a few long vectors, one vector at a time, by Gram-Schmidt with reorthogonalization (Giraud,
 * Langou and Rozloznik 2005, Comput. Math. Appl. 50: Q is orthonormal to rounding as long as the
 * vectors are numerically independent). 4 n p^2 flops, in place.
 */
final class ThinQr {

  private final double[][] q;

  /** r[i][k], i at most k. */
  private final double[][] r;

  private int count;

  /** A factorization of at most this many vectors. */
  ThinQr(int most) {
    q = new double[most][];
    r = new double[most][most];
  }

  /**
   * Adds a vector, which becomes a column of Q.
   *
   * @return its distance from the span of the earlier ones, relative to its norm; 0 for the zero
   *     vector
   */
  double add(double[] v) {
    double before = norm(v);
    for (int pass = 0; pass < 2; pass++) {
      for (int i = 0; i < count; i++) {
        double dot = 0;
        for (int j = 0; j < v.length; j++) {
          dot += q[i][j] * v[j];
        }
        r[i][count] += dot;
        for (int j = 0; j < v.length; j++) {
          v[j] -= dot * q[i][j];
        }
      }
    }
    double left = norm(v);
    r[count][count] = left;
    for (int j = 0; j < v.length && left > 0; j++) {
      v[j] /= left;
    }
    q[count++] = v;
    return before == 0 ? 0 : left / before;
  }

  private static double norm(double[] v) {
    double norm = 0;
    for (double x : v) {
      norm = Math.hypot(norm, x);
    }
    return norm;
  }

  /** u with R'u = e. */
  double[] transposedSolve(double[] e) {
    double[] u = e.clone();
    for (int k = 0; k < count; k++) {
      for (int i = 0; i < k; i++) {
        u[k] -= r[i][k] * u[i];
      }
      u[k] /= r[k][k];
    }
    return u;
  }

  /** v with R v = u. */
  double[] solve(double[] u) {
    double[] v = u.clone();
    for (int k = count - 1; k >= 0; k--) {
      for (int i = k + 1; i < count; i++) {
        v[k] -= r[k][i] * v[i];
      }
      v[k] /= r[k][k];
    }
    return v;
  }

  /**
   * d_k less the combination of the earlier d that would reproduce vector k from the earlier
   * vectors.
   */
  double leftOf(double[] d, int k) {
    double[] u = new double[k];
    double left = d[k];
    for (int i = 0; i < k; i++) {
      u[i] = d[i];
      for (int j = 0; j < i; j++) {
        u[i] -= r[j][i] * u[j];
      }
      u[i] /= r[i][i];
      left -= r[i][k] * u[i];
    }
    return left;
  }

  /** Column i of Q; must not be modified. */
  double[] column(int i) {
    return q[i];
  }

  /** Adds Q u to the vector at k, k + width, k + 2 width, ... */
  void addTimes(double[] u, double[] to, int k, int width) {
    for (int i = 0; i < count; i++) {
      for (int j = 0; j < q[i].length; j++) {
        to[j * width + k] += u[i] * q[i][j];
      }
    }
  }
}
