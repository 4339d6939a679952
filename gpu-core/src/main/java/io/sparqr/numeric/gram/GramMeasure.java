/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.gram;

import io.sparqr.symbolic.GramWork;
import io.sparqr.threads.Crew;
import java.util.SplittableRandom;

/**
 * Measures R of a tree of fronts against its rows, and corrects it where that takes little.
 *
 * <p>With H = F'F - R'R and E = R^-T H R^-1, R is to first order the exact factor of F + dF for
 * every dF = QXR with X + X' = -E; the norms of dF's columns, ||X r_j||, bound the backward errors
 * of the columns, as the analysis of Householder's method has them.
 *
 * <p>First X = -E / 2 is tried, the symmetric one: ||E r_j|| = ||R^-T h_j||. For random Z of s
 * columns the j-th row of H R^-1 Z has norm sqrt(s) ||R^-T h_j|| in the mean (Johnson and
 * Lindenstrauss; its square has the chi-squared distribution of s degrees, so that for s = 8 it is
 * less than a third of that once in 10^3 and less than a fifth once in 4 10^4, and the largest of n
 * columns counts). Products with F and R have twice the precision; H is never formed. Some 20 n^2 s
 * flops and as many for each entry of F.
 *
 * <p>That counts roundings in the directions in which R is small with its condition. Where it is
 * too much, a few such directions U, orthonormal, the smallest first, are split off: with P = I -
 * UU', W = EU and M = W - UT, T the triangle above the diagonal of U'W and half of its diagonal,
 * another X is -(PEP / 2 + MU'), whose columns have norms of at most ||PEP r_j|| / 2 + ||MU'r_j||:
 * what couples two directions counts with the part of r_j in the smaller one. Any U gives a bound;
 * inverse iteration gives a good one. If this is still too much, but PEP alone would not be, R is
 * corrected to first order by what is known of E, MU' + UM' ({@link GramTriangle#correct}), and
 * measured again.
 */
final class GramMeasure {

  /** Random vectors, and directions. */
  static final int VECTORS = GramWork.VECTORS;

  /** Inverse iterations for the directions. */
  private static final int ITERATIONS = 2;

  /** Norm of X up to which its square does not count beside it. */
  private static final double FIRST_ORDER = 0x1p-10;

  /** Norm of a correction up to which its square does not count beside eps. */
  private static final double CORRECTED = 0x1p-28;

  private final GramTriangle r;
  private final RowProducts rows;
  private final double[] squares;
  private final Crew crew;

  /** The part of the last bound that no correction takes away: of PEP. */
  private double rest;

  private GramMeasure(GramTriangle r, RowProducts rows, double[] squares, Crew crew) {
    this.r = r;
    this.rows = rows;
    this.squares = squares;
    this.crew = crew;
  }

  /**
   * The largest backward error of a column that is not weak, relative to its norm, at most.
   *
   * @param squares size n, of the columns
   * @param enough a bound that need not be made better
   */
  static double worst(
      GramTriangle r, RowProducts rows, double[] squares, double enough, Crew crew) {
    var measure = new GramMeasure(r, rows, squares, crew);
    var random = new SplittableRandom(r.n);
    double[] z = measure.normal(random);
    double[] h = measure.defect(r.solve(z, VECTORS, crew));
    double worst = 0;
    for (int j = 0; j < r.n; j++) {
      worst = measure.larger(worst, j, norm(h, j) / Math.sqrt(VECTORS) / 2);
    }
    // Not a number counts as too large.
    return worst <= enough || Double.isNaN(worst)
        ? worst
        : measure.apart(z, h, measure.normal(random), enough);
  }

  /** H w. */
  private double[] defect(double[] w) {
    Pairs h = rows.normal(w, VECTORS, crew);
    r.subtractTransposed(r.multiply(w, VECTORS, crew), VECTORS, h, crew);
    return h.values();
  }

  /**
   * The bound with small directions split off, after a correction if it is too large. They are
   * found from other random vectors: of a well-conditioned R inverse iteration hardly leaves the
   * space that it begins in, and what is left of E beside that space is not seen from within.
   *
   * @param z random vectors
   * @param h H R^-1 z
   * @param u other random vectors, changed
   */
  private double apart(double[] z, double[] h, double[] u, double enough) {
    for (int k = 0; k < ITERATIONS; k++) {
      u = r.solveTransposed(r.solve(u, VECTORS, crew), VECTORS, crew);
      SmallBasis.orthonormalize(u, r.n, VECTORS);
    }
    SmallBasis.sort(u, r.solve(u, VECTORS, crew), r.n, VECTORS);
    double[] m = new double[u.length];
    double worst = apart(u, z, h, m);
    if (worst <= enough || !(rest <= enough) || !(SmallBasis.norm(m) <= CORRECTED)) {
      return worst;
    }
    r.correct(u, m, VECTORS, crew);
    return apart(u, z, defect(r.solve(z, VECTORS, crew)), m);
  }

  /**
   * The bound with the directions u split off.
   *
   * @param z random vectors
   * @param h H R^-1 z
   * @param m M, out
   */
  private double apart(double[] u, double[] z, double[] h, double[] m) {
    double[] hu = defect(r.solve(u, VECTORS, crew));
    System.arraycopy(r.solveTransposed(hu, VECTORS, crew), 0, m, 0, m.length);
    double[] b = SmallBasis.products(u, m, r.n, VECTORS);
    SmallBasis.subtract(m, u, SmallBasis.upper(b, VECTORS), r.n, VECTORS);
    // E P z = R^-T (H R^-1 z - H R^-1 U U'z), then P.
    SmallBasis.subtract(h, hu, SmallBasis.products(u, z, r.n, VECTORS), r.n, VECTORS);
    double[] y = r.solveTransposed(h, VECTORS, crew);
    SmallBasis.subtract(y, u, SmallBasis.products(u, y, r.n, VECTORS), r.n, VECTORS);
    double size = Math.hypot(SmallBasis.norm(m), SmallBasis.norm(y) / Math.sqrt(VECTORS));
    if (!(size <= FIRST_ORDER)) {
      return Double.POSITIVE_INFINITY;
    }
    double[] square = SmallBasis.products(m, m, r.n, VECTORS);
    double[] along = r.multiplyTransposed(u, VECTORS, crew);
    double[] across = r.multiplyTransposed(y, VECTORS, crew);
    double worst = 0;
    rest = 0;
    for (int j = 0; j < r.n; j++) {
      double error = norm(across, j) / Math.sqrt(VECTORS) / 2;
      rest = larger(rest, j, error);
      worst = larger(worst, j, error + SmallBasis.norm(square, along, j, VECTORS));
    }
    return worst;
  }

  private double larger(double worst, int j, double norm) {
    if (r.isWeak(j)) {
      return worst;
    }
    double error = norm / Math.sqrt(squares[j]);
    return error <= worst ? worst : error;
  }

  private static double norm(double[] x, int row) {
    double sum = 0;
    for (int q = 0; q < VECTORS; q++) {
      sum += x[row * VECTORS + q] * x[row * VECTORS + q];
    }
    return Math.sqrt(sum);
  }

  private double[] normal(SplittableRandom random) {
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
