/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign.regression;

/** Eigenvalues of a small symmetric matrix, by Jacobi's rotations in {@link DoubleDouble}. */
final class Eigenvalues {

  private static final int SWEEPS = 40;

  /** Cotangents of twice an angle from here on belong to no rotation. */
  private static final double NOTHING = 1e100;

  private final DoubleDouble[][] a;
  private final DoubleDouble[][] vectors;

  Eigenvalues(DoubleDouble[][] matrix) {
    int n = matrix.length;
    a = new DoubleDouble[n][];
    vectors = new DoubleDouble[n][n];
    for (int i = 0; i < n; i++) {
      a[i] = matrix[i].clone();
      for (int j = 0; j < n; j++) {
        vectors[i][j] = i == j ? DoubleDouble.ONE : DoubleDouble.ZERO;
      }
    }
    for (int sweep = 0; sweep < SWEEPS && off() > 0; sweep++) {
      for (int p = 0; p < n; p++) {
        for (int q = p + 1; q < n; q++) {
          rotate(p, q);
        }
      }
    }
  }

  /** Whether there is an entry beside the diagonal that counts. */
  private double off() {
    double sum = 0;
    for (int i = 0; i < a.length; i++) {
      for (int j = 0; j < i; j++) {
        double scale = Math.sqrt(Math.abs(a[i][i].value() * a[j][j].value()));
        sum += Math.abs(a[i][j].value()) > 1e-30 * scale ? 1 : 0;
      }
    }
    return sum;
  }

  private void rotate(int p, int q) {
    if (a[p][q].value() == 0) {
      return;
    }
    DoubleDouble theta = a[q][q].minus(a[p][p]).over(a[p][q].times(2));
    if (!(Math.abs(theta.value()) < NOTHING)) {
      // an angle whose square is beyond doubles: the entry is nothing beside the eigenvalues
      return;
    }
    DoubleDouble size = theta.value() < 0 ? theta.negative() : theta;
    DoubleDouble t =
        DoubleDouble.ONE.over(size.plus(size.times(size).plus(DoubleDouble.ONE).root()));
    t = theta.value() < 0 ? t.negative() : t;
    DoubleDouble c = DoubleDouble.ONE.over(t.times(t).plus(DoubleDouble.ONE).root());
    DoubleDouble s = t.times(c);
    for (int k = 0; k < a.length; k++) {
      DoubleDouble x = a[k][p];
      DoubleDouble y = a[k][q];
      a[k][p] = c.times(x).minus(s.times(y));
      a[k][q] = s.times(x).plus(c.times(y));
    }
    for (int k = 0; k < a.length; k++) {
      DoubleDouble x = a[p][k];
      DoubleDouble y = a[q][k];
      a[p][k] = c.times(x).minus(s.times(y));
      a[q][k] = s.times(x).plus(c.times(y));
      x = vectors[k][p];
      y = vectors[k][q];
      vectors[k][p] = c.times(x).minus(s.times(y));
      vectors[k][q] = s.times(x).plus(c.times(y));
    }
  }

  double least() {
    double least = Double.POSITIVE_INFINITY;
    for (int i = 0; i < a.length; i++) {
      least = Math.min(least, a[i][i].value());
    }
    return least;
  }

  double most() {
    double most = 0;
    for (int i = 0; i < a.length; i++) {
      most = Math.max(most, Math.abs(a[i][i].value()));
    }
    return most;
  }

  /** The matrix with its negative eigenvalues at zero. */
  DoubleDouble[][] repaired() {
    int n = a.length;
    var m = new DoubleDouble[n][n];
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < n; j++) {
        DoubleDouble sum = DoubleDouble.ZERO;
        for (int k = 0; k < n; k++) {
          if (a[k][k].value() > 0) {
            sum = sum.plus(vectors[i][k].times(a[k][k]).times(vectors[j][k]));
          }
        }
        m[i][j] = sum;
      }
    }
    return m;
  }
}
