/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import io.sparqr.sparse.CsrMatrix;

/**
 * The one place where tests get their tolerances from. Rounding errors are counted in units of eps
 * ||A||: 20 for each row or column of a small problem, but at most {@link #UNITS}, whatever its
 * size. A bound that kept growing with m would accept 1e-7 at 10^7 rows. But the errors of a
 * blocked Householder QR hardly grow: with some hundred thousand rows they are a few units.
 */
public final class Tolerances {

  /** Unit of rounding, 2^-52. */
  public static final double EPS = Math.ulp(1.0);

  /**
   * The largest error, in units of eps, that any comparison accepts: 4.4e-13. The plain executor,
   * whose sums are loops, needs 1020 for a column of 2,868 ones; everything else less than 1000.
   */
  public static final double UNITS = 2000;

  /** How close residual norms of two solutions of one problem are, relatively. */
  public static final double RESIDUAL = 1e-11;

  /**
   * What a report calls the normal residual, ||A'r|| / (||A|| ||r||), of a solve by R and Q'b. A
   * sum over all columns, of which rounding errors do not add up: far below {@link #UNITS}. Ten
   * times as much for solves by the semi-normal equations.
   */
  public static final double NORMAL_RESIDUAL = 45 * EPS;

  /**
   * How close, relatively, are sums and solutions of the same numbers in another order: on other
   * partitions, by R once more, in other units. The roundings of some hundred terms.
   */
  public static final double REORDERED = 1e-13;

  /**
   * How close, relatively, are solutions of one problem by two methods, and what is computed from
   * them. The condition numbers of such problems are small: most need less than ten units.
   */
  public static final double SOLUTION = UNITS * EPS;

  /** The same where the condition number is left to chance, up to some ten thousands. */
  public static final double RANDOM = 1e-10;

  /**
   * For figures in which the condition number is squared, as in standard errors and tests, and for
   * problems beside columns that depend on others. R's packages agree with each other to this.
   */
  public static final double ILL_CONDITIONED = 1e-9;

  /** For references that are found by iteration, such as pyfixest's absorbed effects. */
  public static final double ITERATED = 1e-5;

  /**
   * What the check of column sums may find in a right task, relatively: the roundings of its
   * longest columns. The smallest error that tests plant is a thousand times as large.
   */
  public static final double DEPARTURE = 1e-13;

  /**
   * How far a printed residual norm may be from that of the printed x, relatively, in campaigns of
   * problems of any condition: six digits are what reports print.
   */
  public static final double PRINTED_NORM = 1e-6;

  /** The same of the norm of b, for residuals that are nearly 0: of them R and Q'b know as much. */
  public static final double PRINTED_NORM_OF_B = 1e-12;

  /** How far the printed ||A'r|| / (||A|| ||r||) may be: three digits say what it says. */
  public static final double PRINTED_GRADIENT = 1e-3;

  /**
   * How close figures of campaigns are, relatively, where the condition number leaves eight digits:
   * more than any table prints. What the condition number takes comes on top, by {@link
   * #CONDITIONED}.
   */
  public static final double FIGURE = 1e-8;

  /**
   * What rounding may do to the answers of a backward stable method for small dense problems,
   * relatively, for each unit of the condition number: 45 eps.
   */
  public static final double CONDITIONED = 1e-14;

  /**
   * How close, relatively, Robust PCA comes to a known low-rank and sparse part, where it is proved
   * to find them: what Candes, Li, Ma, Wright 2011 print as exact.
   */
  public static final double RECOVERED = 1e-6;

  /** How close, relatively, the verdict on such a decomposition comes to the optimum. */
  public static final double CERTIFIED = 1e-4;

  private static final double C = 20;

  private Tolerances() {}

  /** Half a unit of the last decimal of a reference that is printed with that many. */
  public static double decimals(int places) {
    return 0.5 / Math.pow(10, places);
  }

  /** Half a unit of the last of a reference's significant digits, the first taken for 1. */
  public static double digits(int significant, double reference) {
    return decimals(significant - 1) * Math.abs(reference);
  }

  /** For a number of that size after that many operations, each rounded by half a unit or less. */
  public static double roundings(int operations, double size) {
    return EPS / 2 * operations * Math.abs(size);
  }

  /** For a solution, whatever its method: it loses as many digits as the condition number has. */
  public static double ofSolution(double condition, double norm) {
    return C * EPS * condition * norm;
  }

  /**
   * For standard errors, relatively, of columns with this condition number once they are scaled:
   * 100 units for each of its units, whatever the number of rows. The most that was seen, between a
   * factorization cut into tasks and dense Householder QR, is 33.
   */
  public static double ofStandardError(double condition) {
    return 100 * EPS * condition;
  }

  /** For quantities of A's own size, such as R or b. */
  public static double of(int m, int n, double norm) {
    return EPS * Math.min(C * Math.max(Math.max(m, n), 4), UNITS) * norm;
  }

  /** For products such as A'A or A'r. */
  public static double ofProduct(int m, int n, double normA, double normB) {
    return of(m, n, normA) * normB;
  }

  /**
   * The column-wise backward error of a solution, in units of eps: the largest |a_j'r| / (||a_j||
   * s), s = ||r|| + ||b|| + ||D x|| with D = diag(||a_k||). A backward stable method solves a
   * problem with columns a_j + e_j, ||e_j|| of c eps ||a_j||, so that |a_j'r| is that small (Higham
   * 2002, Accuracy and Stability of Numerical Algorithms, section 20.3); where the residual is of
   * b's size that is the usual |a_j'r| / (||a_j|| ||r||), where it vanishes its normwise form. NaN
   * or infinity where x has one.
   */
  public static double backwardError(CsrMatrix a, double[] b, double[] x) {
    return backwardError(a, b, x, new int[0]);
  }

  /** The same without some columns, such as dead ones. */
  public static double backwardError(CsrMatrix a, double[] b, double[] x, int[] without) {
    double[] r = a.multiply(x);
    for (int i = 0; i < r.length; i++) {
      r[i] = b[i] - r[i];
    }
    double[] column = columnNorms(a);
    double[] g = a.multiplyTransposed(r);
    double scale = norm(r) + size(a, b, x);
    for (int j : without) {
      g[j] = 0;
    }
    double worst = 0;
    for (int j = 0; j < g.length; j++) {
      if (g[j] != 0) {
        // not Math.max alone: NaN must not look like 0
        double error = Math.abs(g[j]) / column[j] / scale / EPS;
        worst = error > worst || Double.isNaN(error) ? error : worst;
      }
    }
    return worst;
  }

  /** ||b|| + ||D x||, D = diag(||a_j||): what rounding errors of a residual are measured by. */
  public static double size(CsrMatrix a, double[] b, double[] x) {
    double[] column = columnNorms(a);
    for (int j = 0; j < column.length; j++) {
      column[j] *= x[j];
    }
    return norm(b) + norm(column);
  }

  /**
   * The largest accepted difference between two residual norms of one problem.
   *
   * @param norm one of them
   * @param size as {@link #size}
   */
  public static double ofResidual(double norm, double size) {
    return RESIDUAL * norm + UNITS * EPS * size;
  }

  /**
   * Fails with that message unless the error, an absolute value, is within the limit; NaN never is.
   * For loops over entries by the hundred thousand, where an assertion for each would take most of
   * a test's time.
   */
  public static void require(double error, double limit, String message, Object... arguments) {
    if (!(error <= limit)) {
      throw new AssertionError(
          "%s: error %s, limit %s".formatted(message.formatted(arguments), error, limit));
    }
  }

  /** Fails unless two vectors are of one length and no entries differ by more than the limit. */
  public static void requireClose(double[] actual, double[] expected, double limit, String what) {
    if (actual.length != expected.length) {
      throw new AssertionError(
          "%s: %d numbers, not %d".formatted(what, actual.length, expected.length));
    }
    for (int i = 0; i < actual.length; i++) {
      double error = Math.abs(actual[i] - expected[i]);
      if (!(error <= limit)) {
        require(error, limit, "%s: entry %d is %s, not %s", what, i, actual[i], expected[i]);
      }
    }
  }

  /** 2-norms of the columns, without overflow. */
  public static double[] columnNorms(CsrMatrix a) {
    var norms = new ColumnNorms(a.columns());
    for (int k = 0; k < a.nonzeros(); k++) {
      norms.add(a.columnIndex()[k], a.values()[k]);
    }
    double[] norm = new double[a.columns()];
    java.util.Arrays.setAll(norm, norms::norm);
    return norm;
  }

  /** ||A||_F without overflow. */
  public static double frobenius(CsrMatrix a) {
    return norm(a.values(), a.nonzeros());
  }

  /** 2-norm of the first {@code length} values, without overflow. */
  public static double norm(double[] x, int length) {
    double max = 0;
    for (int i = 0; i < length; i++) {
      max = Math.max(max, Math.abs(x[i]));
    }
    if (max == 0) {
      return 0;
    }
    double sum = 0;
    for (int i = 0; i < length; i++) {
      sum += x[i] / max * (x[i] / max);
    }
    return max * Math.sqrt(sum);
  }

  /** 2-norm of a vector. */
  public static double norm(double[] x) {
    return norm(x, x.length);
  }
}
