/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.numeric.Tolerances;

/**
 * The oracle of standard errors: dense Householder QR of the kept columns, each scaled by a power
 * of two to a norm near 1, and R^-1 by back substitution.
 */
public final class DenseStatistics {

  /** Original index of each kept column. */
  public final int[] kept;

  /** Size n: sqrt(diag((A'A)^-1)) over the kept columns, NaN elsewhere. */
  public final double[] unscaledErrors;

  /** Size n: the basic solution. */
  public final double[] x;

  /** ||R||_F ||R^-1||_F of the scaled kept columns: at least their condition number. */
  public final double condition;

  private final int m;
  private final double[][] q;
  private final int[] exponent;

  /** Of the columns of a that are not dead. */
  public DenseStatistics(double[][] a, double[] b, int[] dead) {
    m = a.length;
    int n = a[0].length;
    kept = java.util.stream.IntStream.range(0, n).filter(j -> !contains(dead, j)).toArray();
    int r = kept.length;
    assertThat(r).as("columns kept of %d rows", m).isLessThanOrEqualTo(m);
    exponent = new int[n];
    double[][] c = new double[m][r + 1];
    for (int j = 0; j < n; j++) {
      exponent[j] = exponent(a, j);
    }
    double largest = 0;
    for (double v : b) {
      largest = Math.max(largest, Math.abs(v));
    }
    int eb = largest == 0 ? 0 : Math.getExponent(largest);
    for (int i = 0; i < m; i++) {
      for (int k = 0; k < r; k++) {
        c[i][k] = Math.scalb(a[i][kept[k]], -exponent[kept[k]]);
      }
      c[i][r] = Math.scalb(b[i], -eb);
    }
    q = c;
    householder(c, r);
    double[][] inverse = inverse(c, r);
    unscaledErrors = new double[n];
    java.util.Arrays.fill(unscaledErrors, Double.NaN);
    x = new double[n];
    double normR = 0;
    double normInverse = 0;
    for (int i = 0; i < r; i++) {
      double row = 0;
      double z = 0;
      for (int k = i; k < r; k++) {
        row = Math.hypot(row, inverse[i][k]);
        normR = Math.hypot(normR, c[i][k]);
        z += inverse[i][k] * c[k][r];
      }
      normInverse = Math.hypot(normInverse, row);
      unscaledErrors[kept[i]] = Math.scalb(row, -exponent[kept[i]]);
      x[kept[i]] = Math.scalb(z, eb - exponent[kept[i]]);
    }
    condition = r == 0 ? 1 : normR * normInverse;
  }

  private static boolean contains(int[] sorted, int j) {
    return java.util.Arrays.binarySearch(sorted, j) >= 0;
  }

  private static int exponent(double[][] a, int j) {
    double max = 0;
    for (double[] row : a) {
      max = Math.max(max, Math.abs(row[j]));
    }
    return max == 0 ? 0 : Math.getExponent(max);
  }

  private static void householder(double[][] c, int r) {
    int m = c.length;
    for (int k = 0; k < r; k++) {
      double norm = 0;
      for (int i = k; i < m; i++) {
        norm = Math.hypot(norm, c[i][k]);
      }
      assertThat(norm).as("pivot %d of the kept columns", k).isPositive();
      double alpha = c[k][k] > 0 ? -norm : norm;
      double[] v = new double[m];
      double square = 0;
      for (int i = k; i < m; i++) {
        v[i] = c[i][k] - (i == k ? alpha : 0);
        square += v[i] * v[i];
      }
      for (int j = k; j < c[0].length; j++) {
        double dot = 0;
        for (int i = k; i < m; i++) {
          dot += v[i] * c[i][j];
        }
        for (int i = k; i < m; i++) {
          c[i][j] -= 2 * dot / square * v[i];
        }
      }
      for (int i = k + 1; i < m; i++) {
        c[i][k] = 0;
      }
    }
  }

  private static double[][] inverse(double[][] c, int r) {
    double[][] inverse = new double[r][r];
    for (int j = 0; j < r; j++) {
      for (int i = j; i >= 0; i--) {
        double sum = i == j ? 1 : 0;
        for (int k = i + 1; k <= j; k++) {
          sum -= c[i][k] * inverse[k][j];
        }
        inverse[i][j] = sum / c[i][i];
      }
    }
    return inverse;
  }

  /** ||b - A x|| of rows [0, count), for this x. */
  public double residual(double[][] a, double[] b, int count) {
    double norm = 0;
    for (int i = 0; i < count; i++) {
      double r = b[i];
      for (int j : kept) {
        r -= a[i][j] * x[j];
      }
      norm = Math.hypot(norm, r);
    }
    return norm;
  }

  /** Distance of a column from the span of the kept ones, as a part of its norm. */
  public double distance(double[][] a, int j) {
    double[] column = new double[m];
    double norm = 0;
    for (int i = 0; i < m; i++) {
      column[i] = Math.scalb(a[i][j], -exponent[j]);
      norm = Math.hypot(norm, column[i]);
    }
    if (norm == 0) {
      return 0;
    }
    var of = new DenseStatistics(a, column, complement(a[0].length));
    double[][] scaled = new double[m][];
    for (int i = 0; i < m; i++) {
      scaled[i] = a[i];
    }
    return of.residual(scaled, column, m) / norm;
  }

  private int[] complement(int n) {
    return java.util.stream.IntStream.range(0, n).filter(j -> !contains(kept, j)).toArray();
  }

  /** The largest accepted relative error of a standard error. */
  public double tolerance() {
    return Tolerances.ofStandardError(condition);
  }

  /** Asserts that the kept columns are independent and the others in their span. */
  public void check(double[][] a, double[] found, String what) {
    int n = a[0].length;
    assertThat(found).as(what).hasSize(n);
    assertThat(condition).as("condition of the kept columns, %s", what).isLessThan(1e11);
    for (int j = 0; j < n; j++) {
      double expected = unscaledErrors[j];
      if (Double.isNaN(expected)) {
        assertThat(found[j]).as("column %d, dead, %s", j, what).isNaN();
        assertThat(distance(a, j)).as("dead column %d, %s", j, what).isLessThan(tolerance());
      } else {
        assertThat(Math.abs(found[j] / expected - 1))
            .as("column %d: %s for %s, condition %s, %s", j, found[j], expected, condition, what)
            .isLessThanOrEqualTo(tolerance());
      }
    }
  }
}
