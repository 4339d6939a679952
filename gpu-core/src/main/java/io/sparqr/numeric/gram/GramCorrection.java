/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.gram;

import io.sparqr.threads.Crew;
import java.util.SplittableRandom;

/**
 * Measures R of a front against its rows, and mends it where the error has few directions.
 *
 * <p>With H = F'F - R'R and E = R^-T H R^-1, the rows whose factor R really is are F + dF with
 * ||df_j|| at most ||R^-T h_j|| / 2 to first order (dF = Q R^-T H / 2, up to sign). That is the
 * backward error of a Householder factorization's column j, and it is measured here: for random Z
 * of s columns the j-th row of H R^-1 Z has norm sqrt(s) ||R^-T h_j|| in the mean (Johnson and
 * Lindenstrauss; its square has the chi-squared distribution of s degrees, so that it is less than
 * a fifth of that once in 10^4 for s = 8, and the largest of n columns counts). Products with F and
 * R have twice the precision; H is never formed.
 *
 * <p>E is large only in the directions in which R is small, and those are few: E11 between them has
 * the condition squared, E12 between them and the others the condition, and both count where E
 * meets a column of R. So with V an orthonormal basis of the range of E Z (Halko, Martinsson,
 * Tropp, SIAM Review 53, 2011) and W = E V, what matters of E is V W' + W V' - V V'W V', and R'(I +
 * E) R = R1'R1 to first order for R1 = (I + U) R, U the upper triangle of that with half of its
 * diagonal. Some 8 n^2 s flops. What is left is measured again with other Z.
 */
final class GramCorrection {

  /** Random vectors. */
  static final int VECTORS = 8;

  private static final int STRIP = 64;

  private final GramTriangle r;
  private final RowProducts rows;
  private final GramCholesky factor;
  private final Crew crew;
  private final SplittableRandom random;

  GramCorrection(GramTriangle triangle, RowProducts rows, GramCholesky factor, Crew crew) {
    this.r = triangle;
    this.rows = rows;
    this.factor = factor;
    this.crew = crew;
    this.random = new SplittableRandom(triangle.n);
  }

  /**
   * The largest backward error of a column, relative to its norm; mends R if it is larger than
   * allowed, and measures again, up to some times.
   *
   * @return the last measurement
   */
  double mend(double allowed, int times) {
    double[] z = normal();
    Pairs h = remainder(z);
    double worst = worst(h);
    for (int k = 0; k < times && worst > allowed; k++) {
      correct(h);
      double before = worst;
      h = remainder(normal());
      worst = worst(h);
      if (!(worst < before)) {
        break;
      }
    }
    return worst;
  }

  private double[] normal() {
    double[] z = new double[r.n * VECTORS];
    for (int j = 0; j < r.n; j++) {
      for (int q = 0; q < VECTORS; q++) {
        double x = random.nextGaussian();
        z[j * VECTORS + q] = r.isWeak(j) ? 0 : x;
      }
    }
    return z;
  }

  /** H R^-1 Z. */
  private Pairs remainder(double[] z) {
    double[] w = r.solve(z, VECTORS, crew);
    Pairs h = rows.normal(w, VECTORS, crew);
    r.subtractTransposed(r.multiply(w, VECTORS, crew), VECTORS, h, crew);
    return h;
  }

  private double worst(Pairs h) {
    double worst = 0;
    for (int j = 0; j < r.n; j++) {
      if (r.isWeak(j)) {
        continue;
      }
      double sum = 0;
      for (int q = 0; q < VECTORS; q++) {
        double x = h.value(j * VECTORS + q);
        sum += x * x;
      }
      double error = Math.sqrt(sum / VECTORS / factor.square(j)) / 2;
      // Not a number counts as too large.
      worst = error <= worst ? worst : error;
    }
    return worst;
  }

  private void correct(Pairs h) {
    int s = VECTORS;
    double[] v = orthonormal(r.solveTransposed(h.values(), s, crew));
    double[] w = r.solveTransposed(remainder(v).values(), s, crew);
    double[] b = new double[s * s];
    for (int i = 0; i < r.n; i++) {
      for (int p = 0; p < s; p++) {
        for (int q = 0; q < s; q++) {
          b[p * s + q] += (v[i * s + p] * w[i * s + q] + v[i * s + q] * w[i * s + p]) / 2;
        }
      }
    }
    // V W' + W V' - V B V' = V W' + (W - V B) V'.
    double[] t = w.clone();
    for (int i = 0; i < r.n; i++) {
      for (int p = 0; p < s; p++) {
        for (int q = 0; q < s; q++) {
          t[i * s + q] -= v[i * s + p] * b[p * s + q];
        }
      }
    }
    int strips = (r.n + STRIP - 1) / STRIP;
    crew.run(
        strips,
        k -> {
          for (int j = k * STRIP; j < Math.min(r.n, (k + 1) * STRIP); j++) {
            add(v, w, t, j);
          }
        });
  }

  /** Adds U R to column j of R. */
  private void add(double[] v, double[] w, double[] t, int j) {
    int s = VECTORS;
    double[] a = r.a;
    int at = j * r.ld;
    double[] sumV = new double[s];
    double[] sumW = new double[s];
    for (int i = j; i >= 0; i--) {
      double old = a[at + i];
      double more = 0;
      for (int q = 0; q < s; q++) {
        double nextV = v[i * s + q] * old;
        double nextW = w[i * s + q] * old;
        more += t[i * s + q] * (sumV[q] + nextV / 2) + v[i * s + q] * (sumW[q] + nextW / 2);
        sumV[q] += nextV;
        sumW[q] += nextW;
      }
      a[at + i] = old + more;
    }
  }

  /** Orthonormal columns with the range of x, by Gram and Schmidt, twice; a null column is zero. */
  private double[] orthonormal(double[] x) {
    int s = VECTORS;
    for (int q = 0; q < s; q++) {
      scale(x, q);
      for (int again = 0; again < 2; again++) {
        for (int p = 0; p < q; p++) {
          double dot = 0;
          for (int i = q, k = p; i < x.length; i += s, k += s) {
            dot += x[i] * x[k];
          }
          for (int i = q, k = p; i < x.length; i += s, k += s) {
            x[i] -= dot * x[k];
          }
        }
        scale(x, q);
      }
    }
    return x;
  }

  private static void scale(double[] x, int q) {
    double sum = 0;
    for (int i = q; i < x.length; i += VECTORS) {
      sum += x[i] * x[i];
    }
    double norm = Math.sqrt(sum);
    for (int i = q; i < x.length; i += VECTORS) {
      x[i] = norm > 0 ? x[i] / norm : 0;
    }
  }
}
