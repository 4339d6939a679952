/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.gram;

import io.sparqr.symbolic.GramWork;
import io.sparqr.threads.Crew;
import java.util.SplittableRandom;

/**
 * Measures R of a front against its rows.
 *
 * <p>With H = F'F - R'R, R is to first order the exact factor of F + dF for dF = Q R^-T H / 2,
 * whose columns have norms ||R^-T h_j|| / 2: a bound of the backward error of column j, as the
 * analysis of Householder's method has one. For random Z of s columns the j-th row of H R^-1 Z has
 * norm sqrt(s) ||R^-T h_j|| in the mean (Johnson and Lindenstrauss; its square has the chi-squared
 * distribution of s degrees, so that it is less than a fifth of that once in 10^4 for s = 8, and
 * the largest of n columns counts). Products with F and R have twice the precision; H is never
 * formed. Some 20 n^2 s flops and as many for each entry of F.
 *
 * <p>The bound is not the least one: errors in the directions in which R is small count with its
 * condition, although another dF may be smaller. So fronts beyond a condition of some 10^3 are
 * refused that might be taken.
 */
final class GramMeasure {

  /** Random vectors. */
  static final int VECTORS = GramWork.VECTORS;

  private GramMeasure() {}

  /** The largest backward error of a column that is not weak, relative to its norm. */
  static double worst(GramTriangle r, RowProducts rows, GramCholesky factor, Crew crew) {
    double[] w = r.solve(normal(r), VECTORS, crew);
    Pairs h = rows.normal(w, VECTORS, crew);
    r.subtractTransposed(r.multiply(w, VECTORS, crew), VECTORS, h, crew);
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

  private static double[] normal(GramTriangle r) {
    var random = new SplittableRandom(r.n);
    double[] z = new double[r.n * VECTORS];
    for (int j = 0; j < r.n; j++) {
      for (int q = 0; q < VECTORS; q++) {
        double x = random.nextGaussian();
        z[j * VECTORS + q] = r.isWeak(j) ? 0 : x;
      }
    }
    return z;
  }
}
