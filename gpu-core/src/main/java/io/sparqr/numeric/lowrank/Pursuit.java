/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.lowrank;

import io.sparqr.error.MatrixFormatException;
import io.sparqr.numeric.dense.BlasLoader;
import io.sparqr.numeric.dense.SmallDense;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Principal component pursuit: min ||L||_* + lambda ||S||_1 under L + S = M (Candes, Li, Ma, Wright
 * 2011). What is decided between iterations, from R of all rows and their sums; the rows themselves
 * are in {@link PursuitRows} and {@link PursuitState}. Singular values are those of R, by LAPACK:
 * those of W'W would have half of the digits. For one thread.
 */
public final class Pursuit {

  /** Of mu, from one iteration to the next (Lin, Chen, Ma 2010, section 4). */
  private static final double GROWTH = 1.5;

  /** The largest mu, in units of the first: beyond it rounding errors are all that is left. */
  private static final double MOST = 1e7;

  private static final double FIRST = 1.25;

  /**
   * mu grows while the change is less than this times the residual. Where it grows whatever
   * happens, as in Lin, Chen, Ma's code, L and S soon add up to M, but are not always the optimum:
   * of 3000 x 60, rank 3, 5 percent, two rows stay wrong by 3e-4 of ||L||, which the verdict tells.
   * They make it depend on the change, too (their equation 19); beside the residual as here is
   * Boyd's rule (Boyd and others 2011, Distributed Optimization by ADMM, section 3.4.1).
   */
  private static final double BALANCE = 10;

  /** The largest change at which iterations may end. */
  private static final double SETTLED = 1e-3;

  /** Exponents whose powers of two, and their inverses, are normal numbers. */
  private static final int EXPONENT = 1000;

  private final PursuitOptions options;
  private final long rows;
  private final int columns;
  private final double lambda;
  private final List<PursuitIteration> history = new ArrayList<>();
  private double scale;
  private double unit;
  private double mu;
  private double largest;
  private boolean converged;
  private boolean grows = true;

  /** For a matrix of m x n, m at least n. */
  public Pursuit(PursuitOptions options, long rows, int columns) {
    this.options = options;
    this.rows = rows;
    this.columns = columns;
    lambda = options.lambda().orElse(1 / Math.sqrt(Math.max(rows, columns)));
  }

  /**
   * The first penalty and multiplier: for inexact Lagrangians mu = 1.25 / ||M||_2 and Y = M / J, J
   * the larger of ||M||_2 and max |M| / lambda (Lin, Chen, Ma 2010); for alternating directions mu
   * = m n / (4 sum |M|) and Y = 0 (Candes and others 2011, section 5).
   *
   * @param r R of M, n x n, column-major
   * @param norms of all rows of M
   * @throws MatrixFormatException if M is zero
   */
  public PursuitStart begin(double[] r, PursuitTally norms) {
    scale = scale(norms);
    double[] scaled = r.clone();
    double squares = 0;
    for (int k = 0; k < scaled.length; k++) {
      scaled[k] *= scale;
      squares += scaled[k] * scaled[k];
    }
    unit = 1 / Math.sqrt(squares);
    double multiplier = 0;
    if (options.method() == PursuitMethod.INEXACT_ALM) {
      double norm = largestSingularValue(scaled);
      mu = FIRST / norm;
      largest = MOST * mu;
      multiplier = 1 / Math.max(norm, norms.maximum * scale / lambda);
    } else {
      mu = 0.25 / (norms.absolute / rows / columns * scale);
      largest = mu;
    }
    return new PursuitStart(options.method(), scale, unit, lambda, mu, multiplier);
  }

  /**
   * The power of two that brings the largest value to 1 or more and below 2.
   *
   * @throws MatrixFormatException if all are zero
   */
  static double scale(PursuitTally norms) {
    if (norms.maximum == 0) {
      throw new MatrixFormatException("all values are zero: there is nothing to find", "input", -1);
    }
    int exponent = Math.getExponent(norms.maximum);
    return Math.scalb(1.0, -Math.max(-EXPONENT, Math.min(EXPONENT, exponent)));
  }

  private double largestSingularValue(double[] r) {
    double[] sigma = new double[columns];
    SmallDense.svd(r, columns, sigma, new double[r.length], new double[r.length]);
    return sigma[0];
  }

  /**
   * The next iteration.
   *
   * @param r R of W, n x n, column-major
   */
  public PursuitStep step(PursuitStart start, double[] r) {
    return step(start, RightSvd.of(r, columns));
  }

  /** As above, by the SVD of W. */
  PursuitStep step(PursuitStart start, RightSvd w) {
    boolean constant = options.method() == PursuitMethod.ADM || !grows;
    double next = constant ? mu : Math.min(GROWTH * mu, largest);
    return new PursuitStep(BlasLoader.kernels(), start, columns, w.sigma(), w.vt(), mu, next);
  }

  /**
   * Takes note of an iteration.
   *
   * @param tally of all rows
   * @return whether another one is to follow
   */
  public boolean goesOn(PursuitStep step, PursuitTally tally) {
    double residual = Math.sqrt(tally.residual);
    double change = step.mu * Math.sqrt(tally.change / rows / columns) / lambda;
    history.add(
        new PursuitIteration(
            history.size() + 1, residual, change, step.rank, tally.nonzeros, step.mu * scale));
    boolean settled = options.method() == PursuitMethod.ADM || change <= SETTLED;
    converged = residual <= options.tolerance() && settled;
    grows = change < BALANCE * residual;
    mu = step.nextMu;
    return !converged && history.size() < options.maxIterations();
  }

  /**
   * How good the last iteration's L and S are.
   *
   * @param sigma singular values of L
   * @param r R of the multiplier Y, n x n, column-major
   * @param tally of all rows of Y, and of S
   */
  public PursuitOptimality optimality(double[] sigma, double[] r, PursuitTally tally) {
    double norm = largestSingularValue(r);
    double objective = lambda * (tally.absolute / scale);
    for (double x : sigma) {
      objective += x;
    }
    double bound = tally.inner / scale / Math.max(norm, tally.maximum / lambda);
    return new PursuitOptimality(
        Math.sqrt(tally.residual),
        norm,
        tally.maximum,
        lambda,
        objective,
        (objective - bound) / objective);
  }

  /** The weight of the sparse part. */
  public double lambda() {
    return lambda;
  }

  /** The iterations so far. */
  public List<PursuitIteration> history() {
    return List.copyOf(history);
  }

  /** Whether the last one reached the tolerance. */
  public boolean converged() {
    return converged;
  }

  /** What the user should know, a sentence each. */
  public List<String> warnings() {
    if (converged) {
      return List.of();
    }
    PursuitIteration last = history.get(history.size() - 1);
    return List.of(
        String.format(
            Locale.ROOT,
            "not converged: after %d iterations ||M - L - S|| is %.2g of ||M||, the tolerance %.2g;"
                + " the multiplier changes by %.2g of lambda",
            last.number(),
            last.residual(),
            options.tolerance(),
            last.change()));
  }
}
