/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.ml;

import java.io.IOException;
import java.math.BigDecimal;
import java.math.MathContext;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A regression of full rank and its answer: NIST's certified values, or for other problems the
 * solution for exactly these doubles, by Cholesky of the normal equations in 200 decimal digits.
 *
 * @param a design, a column of ones last if there is an intercept
 * @param estimate coefficients
 * @param error their standard errors, 0 where the fit is exact
 */
record AccuracyProblem(
    String name, double[][] a, double[] b, boolean intercept, double[] estimate, double[] error) {

  private static final MathContext DIGITS = new MathContext(200);

  /** All of them, NIST's from a folder. */
  static List<AccuracyProblem> all(Path nist) throws IOException {
    var all = new ArrayList<AccuracyProblem>();
    for (NistSet set : NistSet.values()) {
      NistSet.Problem p = set.read(nist);
      all.add(
          new AccuracyProblem(set.name(), p.a(), p.b(), set.intercept(), p.estimate(), p.error()));
    }
    all.add(polynomial("poly8_unit", 8, 0, 1));
    all.add(polynomial("poly12_unit", 12, 0, 1));
    all.add(polynomial("poly4_from_10_to_11", 4, 10, 11));
    all.add(years("years_squares", 2));
    all.add(years("years_cubes", 3));
    all.add(panel());
    return all;
  }

  /** 101 points of an interval, noise of 0.1. */
  private static AccuracyProblem polynomial(String name, int degree, double from, double to) {
    var random = new SplittableRandom(51 + degree);
    double[][] a = new double[101][];
    double[] b = new double[101];
    for (int i = 0; i < a.length; i++) {
      double x = from + (to - from) * i / 100;
      a[i] = powers(x, degree);
      b[i] = Math.sin(5 * x) + random.nextDouble(-0.1, 0.1);
    }
    return solved(name, a, b);
  }

  /** Five values a year, 1950 to 2023, by the year itself and its powers, not centred. */
  private static AccuracyProblem years(String name, int degree) {
    var random = new SplittableRandom(61);
    double[][] a = new double[370][];
    double[] b = new double[a.length];
    for (int i = 0; i < a.length; i++) {
      double year = 1950 + i / 5;
      a[i] = powers(year, degree);
      double t = year - 1980;
      b[i] = 10 + 0.3 * t - 0.004 * t * t + random.nextDouble(-2, 2);
    }
    return solved(name, a, b);
  }

  /** 50 workers, 8 firms, 6 years: tenure, a wage in cents, dummies less a reference each, ones. */
  private static AccuracyProblem panel() {
    var random = new SplittableRandom(71);
    double[][] a = new double[300][2 + 49 + 7 + 1];
    double[] b = new double[a.length];
    for (int i = 0; i < a.length; i++) {
      int worker = i / 6;
      int firm = random.nextInt(8);
      a[i][0] = random.nextInt(30);
      a[i][1] = random.nextInt(1_000_000, 9_000_000);
      if (worker > 0) {
        a[i][1 + worker] = 1;
      }
      if (firm > 0) {
        a[i][50 + firm] = 1;
      }
      a[i][58] = 1;
      b[i] = 3 + 0.02 * a[i][0] + 1e-7 * a[i][1] + worker % 7 + firm + random.nextDouble(-1, 1);
    }
    return solved("panel", a, b);
  }

  private static double[] powers(double x, int degree) {
    double[] row = new double[degree + 1];
    for (int j = 0; j < degree; j++) {
      row[j] = Math.pow(x, j + 1);
    }
    row[degree] = 1;
    return row;
  }

  private static AccuracyProblem solved(String name, double[][] a, double[] b) {
    int n = a[0].length;
    // [A b]'[A b] = LL': the last row of L is Q'b and the norm of the residual.
    BigDecimal[][] l = gram(a, b);
    for (int j = 0; j <= n; j++) {
      for (int k = 0; k < j; k++) {
        for (int i = j; i <= n; i++) {
          l[i][j] = l[i][j].subtract(l[i][k].multiply(l[j][k], DIGITS), DIGITS);
        }
      }
      l[j][j] = l[j][j].sqrt(DIGITS);
      for (int i = j + 1; i <= n; i++) {
        l[i][j] = l[i][j].divide(l[j][j], DIGITS);
      }
    }
    double[] estimate = doubles(back(l, n, Arrays.copyOf(l[n], n)));
    double[] error = new double[n];
    BigDecimal variance = l[n][n].pow(2, DIGITS).divide(new BigDecimal(a.length - n), DIGITS);
    for (int j = 0; j < n; j++) {
      // column j of L^-1, then (LL')^-1 e_j = L^-T of it
      BigDecimal[] column = new BigDecimal[n];
      Arrays.fill(column, BigDecimal.ZERO);
      for (int i = j; i < n; i++) {
        BigDecimal sum = i == j ? BigDecimal.ONE : BigDecimal.ZERO;
        for (int k = j; k < i; k++) {
          sum = sum.subtract(l[i][k].multiply(column[k], DIGITS), DIGITS);
        }
        column[i] = sum.divide(l[i][i], DIGITS);
      }
      BigDecimal diagonal = BigDecimal.ZERO;
      for (BigDecimal v : column) {
        diagonal = diagonal.add(v.multiply(v, DIGITS), DIGITS);
      }
      error[j] = diagonal.multiply(variance, DIGITS).sqrt(DIGITS).doubleValue();
    }
    return new AccuracyProblem(name, a, b, true, estimate, error);
  }

  private static BigDecimal[][] gram(double[][] a, double[] b) {
    int n = a[0].length;
    BigDecimal[][] g = new BigDecimal[n + 1][n + 1];
    for (BigDecimal[] row : g) {
      Arrays.fill(row, BigDecimal.ZERO);
    }
    for (int i = 0; i < a.length; i++) {
      double[] row = Arrays.copyOf(a[i], n + 1);
      row[n] = b[i];
      for (int j = 0; j <= n; j++) {
        for (int k = 0; k <= j; k++) {
          if (row[j] != 0 && row[k] != 0) {
            var product = new BigDecimal(row[j]).multiply(new BigDecimal(row[k]), DIGITS);
            g[j][k] = g[j][k].add(product, DIGITS);
          }
        }
      }
    }
    return g;
  }

  /** L'x = y. */
  private static BigDecimal[] back(BigDecimal[][] l, int n, BigDecimal[] y) {
    for (int j = n - 1; j >= 0; j--) {
      for (int i = j + 1; i < n; i++) {
        y[j] = y[j].subtract(l[i][j].multiply(y[i], DIGITS), DIGITS);
      }
      y[j] = y[j].divide(l[j][j], DIGITS);
    }
    return y;
  }

  private static double[] doubles(BigDecimal[] v) {
    return Arrays.stream(v).mapToDouble(BigDecimal::doubleValue).toArray();
  }
}
