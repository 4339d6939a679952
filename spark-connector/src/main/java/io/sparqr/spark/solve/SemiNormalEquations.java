/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.solve;

import io.sparqr.error.DimensionMismatchException;
import io.sparqr.numeric.SingletonRows;
import io.sparqr.spark.engine.JobScope;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.threads.Parallel;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * R'R x = A'b with the R on the executors, and the same for the residual: the corrected semi-normal
 * equations x += (R'R)^-1 A'(b - Ax) (Bjorck 1987, Linear Algebra Appl. 88/89). A step costs a pass
 * over the rows and two triangular solves; dead columns stay zero.
 */
public final class SemiNormalEquations {

  /**
   * Maximum number of steps for a minimum-norm solution; each reduces the error by a factor of
   * about eps cond(A).
   */
  private static final int MOST_STEPS = 10;

  /** Residual of equations solved to rounding, relative to the norm of the right-hand side. */
  private static final double ROUNDING = 2 * Math.ulp(1.0);

  /**
   * Maximum relative difference of two sums of the same squares: rounding errors grow with the root
   * of the number of terms, to 1e-11 for 10^10 entries.
   */
  private static final double SAME_NORM = 1e-9;

  /** Exponents of norms from which on their squares are taken relative to a power of two. */
  private static final int FAR = 400;

  /** Columns for which starting another thread pays. */
  private static final int GRAIN = 1 << 15;

  private final SolvePlan plan;
  private final LevelSolve levels;
  private final SingletonRows singletons;
  private final int n;

  /** Uses the R of the levels and of the singleton rows. */
  public SemiNormalEquations(SolvePlan plan, LevelSolve levels, SingletonRows singletons) {
    this.plan = plan;
    this.levels = levels;
    this.singletons = singletons;
    this.n = plan.analysis().columns();
  }

  /**
   * A solution of least norm.
   *
   * @param x one vector for each right-hand side
   * @param residualNorm ||b - A'x|| for each
   */
  public record Solution(double[][] x, double[] residualNorm) {}

  /**
   * min ||b - Ax|| for the labels of a pass: x = (R'R)^-1 A'b and one step of refinement.
   *
   * @param rows number of factorized rows
   * @param frobenius ||A||_F of the factorized rows, including the ridge's
   * @throws DimensionMismatchException if the pass has a different number of rows
   * @throws IllegalArgumentException if it has a different norm, which means that these are rows of
   *     another matrix
   */
  public First solve(ResidualPass pass, long rows, double frobenius, JobScope scope) {
    scope.describe("A'b for further right-hand sides");
    ResidualPass.Sums first = pass.run(null);
    if (first.rows() != rows) {
      throw new DimensionMismatchException(
          "%,d rows with new right-hand sides for a matrix of %,d".formatted(first.rows(), rows),
          "rows",
          rows,
          first.rows());
    }
    // norms of denormal columns are rounded to multiples of the least number, one by one
    double rounded = plan.analysis().columns() * Double.MIN_VALUE;
    if (Math.abs(first.frobenius() - frobenius) > SAME_NORM * frobenius + rounded) {
      throw new IllegalArgumentException(
          "rows of another matrix than the one that was factorized: ||A||_F is %.9e, was %.9e"
              .formatted(first.frobenius(), frobenius));
    }
    double[][] x = new double[first.width()][n];
    add(ofGradient(first.gradient(), plan.vector(first.width()), x.length, scope), x);
    return new First(x, step(pass, x, scope));
  }

  /**
   * A first solution of further right-hand sides.
   *
   * @param x one vector for each right-hand side
   * @param step the step of refinement that is in it
   */
  public record First(double[][] x, Step step) {}

  /**
   * A step of refinement.
   *
   * @param residual ||b - Ax|| before it, the ridge's rows included, as measured
   * @param gain the fraction of the squared norm that it takes away, if R'R dx = A'(b - Ax)
   */
  public record Step(double[] residual, double[] gain) {}

  /** x += (R'R)^-1 A'(b - Ax), in place. */
  private Step step(ResidualPass pass, double[][] x, JobScope scope) {
    int width = x.length;
    scope.describe("residuals, for a step of refinement");
    ResidualPass.Sums sums = pass.run(x);
    double[] g = sums.gradient();
    double[] dz = ofGradient(g, plan.vector(width), width, scope);
    int[] unit = Arrays.stream(sums.residual()).mapToInt(SemiNormalEquations::unit).toArray();
    overColumns(
        (from, to, thread) -> {
          for (int j = from; j < to; j++) {
            for (int k = 0; k < width; k++) {
              double dx = unscaled(dz, j, k, width);
              double step = plan.ordinary(j) ? dx : dz[plan.position(j) * width + k];
              double of = g[j * width + k];
              g[j * width + k] =
                  unit[k] == 0 ? of * step : Math.scalb(of, -unit[k]) * Math.scalb(step, -unit[k]);
              x[k][j] += dx;
            }
          }
        });
    double[] gains = new double[width];
    for (int k = 0; k < width; k++) {
      // ||b - A(x + dx)||^2 = ||b - Ax||^2 - dx'A'(b - Ax), because R'R dx = A'(b - Ax). One
      // thread adds up, column by column, so that their number does not matter.
      double less = 0;
      for (int j = 0; j < n; j++) {
        less += g[j * width + k];
      }
      double r = sums.residual()[k];
      double inUnit = unit[k] == 0 ? r : Math.scalb(r, -unit[k]);
      gains[k] = r == 0 ? 0 : Math.min(1, Math.max(0, less / inUnit / inUnit));
    }
    return new Step(sums.residual(), gains);
  }

  /**
   * (R'R)^-1 g.
   *
   * @param dz n x width by position, of equilibrated columns
   * @param length 2-norms of the vectors, of equilibrated columns
   */
  public record Correction(SemiNormalEquations of, double[] dz, double[] length) {

    /** A solution, in the caller's units, with its correction; another array. */
    double[] addedTo(double[] x, int k) {
      double[] sum = x.clone();
      for (int j = 0; j < sum.length; j++) {
        sum[j] += of.unscaled(dz, j, k, length.length);
      }
      return sum;
    }
  }

  /**
   * The correction of solutions by the gradient A'(b - Ax).
   *
   * @param gradient n x width, interleaved, by original column
   */
  Correction correction(double[] gradient, int width, JobScope scope) {
    double[] dz = ofGradient(gradient, plan.vector(width), width, scope);
    double[] length = new double[width];
    for (int k = 0; k < width; k++) {
      length[k] = Norms.norm(dz, k, n, width);
    }
    return new Correction(this, dz, length);
  }

  /** Products with A, for one vector per right-hand side. */
  public interface Products {
    /** A z. */
    double[][] times(double[][] z);

    /** A'y. */
    double[][] transposed(double[][] y);
  }

  /**
   * y of least 2-norm with A'y = b, for A of full column rank: y = A (R'R)^-1 b, which is as
   * accurate as y computed with Q, but has a residual larger by the condition number (Demmel and
   * Higham 1993, SIAM J. Matrix Anal. Appl. 14). It is therefore refined by y += A (R'R)^-1 (b -
   * A'y) as long as that helps. The sum is over y rather than z with y = Az, because z may be
   * larger than y by the condition number. Zero if the first y already exceeds the range of
   * doubles.
   */
  public Solution leastNorm(double[][] b, Products a, JobScope scope) {
    double[][] y = null;
    double[][] rest = b;
    double reached = Double.POSITIVE_INFINITY;
    for (int step = 0; step < MOST_STEPS && reached > ROUNDING * Math.sqrt(n); step++) {
      scope.describe("minimum norm, solve " + (step + 1));
      double[][] z = new double[b.length][];
      double[] solved = solve(interleave(rest), plan.vector(b.length), b.length, scope);
      for (int k = 0; k < z.length; k++) {
        z[k] = plan.inCallersUnits(solved, k, b.length);
      }
      double[][] next = sum(a.times(z), y, 1);
      if (!finite(next)) {
        y = y == null ? new double[b.length][next[0].length] : y;
        break;
      }
      double[][] left = sum(b, a.transposed(next), -1);
      double now = relative(left, b);
      boolean slow = !(now < reached / 2);
      if (y == null || now < reached) {
        y = next;
        rest = left;
        reached = now;
      }
      if (slow) {
        break;
      }
    }
    double[] norm = new double[b.length];
    for (int k = 0; k < norm.length; k++) {
      for (double r : rest[k]) {
        norm[k] = Math.hypot(norm[k], r);
      }
    }
    return new Solution(Objects.requireNonNull(y), norm);
  }

  /** x + factor y; just x if there is no y. */
  private static double[][] sum(double[][] x, double @Nullable [][] y, double factor) {
    double[][] sum = new double[x.length][];
    for (int k = 0; k < x.length; k++) {
      sum[k] = x[k].clone();
      for (int i = 0; y != null && i < sum[k].length; i++) {
        sum[k][i] += factor * y[k][i];
      }
    }
    return sum;
  }

  private static boolean finite(double[][] y) {
    return Arrays.stream(y).flatMapToDouble(Arrays::stream).allMatch(Double::isFinite);
  }

  /** Max over the right-hand sides of ||D r|| / ||D b||, with D the column scaling. */
  private double relative(double[][] r, double[][] b) {
    double worst = 0;
    for (int k = 0; k < r.length; k++) {
      double above = 0;
      double below = 0;
      for (int j = 0; j < n; j++) {
        above = Math.hypot(above, plan.scaled(j, r[k][j]));
        below = Math.hypot(below, plan.scaled(j, b[k][j]));
      }
      worst = Math.max(worst, above == 0 ? 0 : above / below);
    }
    return worst;
  }

  private void add(double[] z, double[][] x) {
    overColumns(
        (from, to, thread) -> {
          for (int j = from; j < to; j++) {
            for (int k = 0; k < x.length; k++) {
              x[k][j] += unscaled(z, j, k, x.length);
            }
          }
        });
  }

  /** A column's value in the caller's units, of right-hand side k. */
  private double unscaled(double[] z, int column, int k, int width) {
    double of = z[plan.position(column) * width + k];
    double x = plan.scaled(column, of);
    if (!Double.isFinite(x)) {
      throw plan.overflow("x", column, of);
    }
    return x;
  }

  /** Exponent of a norm whose square would leave the range of doubles, otherwise 0. */
  private static int unit(double norm) {
    int e = Math.getExponent(norm);
    return norm == 0 || Math.abs(e) < FAR ? 0 : e;
  }

  /** A loop over all columns, on several threads if there are many. */
  private void overColumns(Parallel.Body body) {
    Parallel.loop(n, GRAIN, Runtime.getRuntime().availableProcessors(), body);
  }

  private double[] interleave(double[][] b) {
    double[] g = plan.vector(b.length);
    for (int j = 0; j < n; j++) {
      for (int k = 0; k < b.length; k++) {
        g[j * b.length + k] = b[k][j];
      }
    }
    return g;
  }

  /**
   * (R'R)^-1 g, with g by original column in the caller's units; the result is by position, scaled,
   * in c, which is overwritten, or in another array.
   */
  private double[] solve(double[] g, double[] c, int width, JobScope scope) {
    scale(g, c, width);
    double[] z = levels.normal(c, width, scope);
    singletons.backSubstitute(z, z, width);
    return z;
  }

  /** As above, for A'r as a {@link ResidualPass} sums it. */
  private double[] ofGradient(double[] g, double[] c, int width, JobScope scope) {
    plan.scaleGradient(g, c, width);
    singletons.forwardSubstitute(c, c, width);
    double[] z = levels.normal(c, width, scope);
    singletons.backSubstitute(z, z, width);
    return z;
  }

  /** The method of a solve, and where R was for its last step, if there are devices. */
  public List<String> notes(String how) {
    String where = levels.takeResidence();
    return where.isEmpty() ? List.of(how) : List.of(how, where);
  }

  /** Forgets where R was: another solve begins. */
  public void forgetNotes() {
    levels.takeResidence();
  }

  private double[] forward(double[] g, int width, JobScope scope) {
    double[] c = plan.vector(width);
    scale(g, c, width);
    levels.forward(c, width, scope);
    return c;
  }

  /** c becomes g by position and scaled, the singleton rows' part of R'y = g solved. */
  private void scale(double[] g, double[] c, int width) {
    plan.scale(g, c, width);
    singletons.forwardSubstitute(c, c, width);
  }

  private void back(double[] c, int width, JobScope scope) {
    levels.back(c, width, scope);
    singletons.backSubstitute(c, c, width);
  }

  /**
   * y with R'y = g, for R in the caller's columns and units.
   *
   * @param g one vector for each right-hand side, by original column
   * @return n x width by position; 0 in dead columns
   */
  public double[] forward(double[][] g, JobScope scope) {
    return forward(interleave(g), g.length, scope);
  }

  /**
   * x with R x = c, 0 in dead columns.
   *
   * @param c n x width by position, 0 in dead columns; overwritten
   * @return one vector for each right-hand side, by original column
   */
  public double[][] solveUpper(double[] c, int width, JobScope scope) {
    back(c, width, scope);
    double[][] x = new double[width][];
    for (int k = 0; k < width; k++) {
      x[k] = plan.unscale(c, k, width, 1);
    }
    return x;
  }
}
