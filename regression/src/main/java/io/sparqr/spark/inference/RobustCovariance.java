/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.inference;

import io.sparqr.spark.model.SparseRow;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A sandwich covariance of some coefficients: (A'A)^-1 M (A'A)^-1, where M is the sum of squares of
 * the scores of rows or of clusters. Two-way sums may have negative variances in small samples;
 * their errors are then NaN, unless they are {@link #repaired}. Without residual degrees of freedom
 * all errors are NaN.
 */
public final class RobustCovariance {

  private final Made made;

  /**
   * The results.
   *
   * @param estimator and its corrections, by name
   * @param columns original indices
   * @param coefficients of these columns
   * @param variances of these columns, NaN for dependent ones
   * @param covariance k x k, unless only the diagonal was computed
   * @param clusters numbers of clusters in the first way, in the second, and in their
   *     intersections; empty for HC
   * @param leverageOne number of rows of leverage 1, which HC2 and HC3 leave out
   * @param repaired whether negative eigenvalues were put at zero
   */
  record Made(
      String estimator,
      int[] columns,
      double[] coefficients,
      double[] variances,
      double @Nullable [][] covariance,
      long[] clusters,
      double degreesOfFreedom,
      long leverageOne,
      boolean repaired) {}

  RobustCovariance(Made made) {
    this.made = made;
  }

  /** The estimator with its corrections, such as "HC3". */
  public String estimator() {
    return made.estimator;
  }

  /** The requested columns, in order. */
  public int[] columns() {
    return made.columns.clone();
  }

  /** Square roots of the variances. */
  public double[] standardErrors() {
    double[] errors = made.variances.clone();
    java.util.Arrays.setAll(errors, k -> Math.sqrt(made.variances[k]));
    return errors;
  }

  /** The variances of the columns, which may be negative for two ways of clustering. */
  public double[] variances() {
    return made.variances.clone();
  }

  /** Whether the columns fit in one batch, so that covariances are available. */
  public boolean hasCovariance() {
    return made.covariance != null;
  }

  /**
   * k x k, symmetric.
   *
   * @throws UnsupportedOperationException for more columns than one batch, for which only variances
   *     were computed
   */
  public double[][] covariance() {
    double[][] covariance = made.covariance;
    if (covariance == null) {
      throw new UnsupportedOperationException(
          ("%,d columns were more than one batch, of which only the variances are summed: ask for"
                  + " fewer columns to have their covariances")
              .formatted(made.columns.length));
    }
    double[][] copy = covariance.clone();
    java.util.Arrays.setAll(copy, k -> covariance[k].clone());
    return copy;
  }

  /**
   * Numbers of clusters in the first way, in the second, and in their intersections; empty for HC.
   */
  public long[] clusters() {
    return made.clusters.clone();
  }

  /** Degrees of freedom of t, and of the denominator of F. */
  public double degreesOfFreedom() {
    return made.degreesOfFreedom;
  }

  /**
   * As above, with the covariance's negative eigenvalues at zero, if one of its variances is
   * negative (Cameron, Gelbach, Miller 2011, J. Bus. Econ. Stat. 29, section 2.3); otherwise, and
   * for more columns than one batch, this itself. O(k^3).
   */
  public RobustCovariance repaired() {
    boolean negative = Arrays.stream(made.variances).anyMatch(v -> v < 0);
    if (!negative || made.covariance == null) {
      return this;
    }
    double[][] v = covariance();
    int[] in = IntStream.range(0, v.length).filter(i -> !Double.isNaN(made.variances[i])).toArray();
    double[][] part = new double[in.length][in.length];
    for (int i = 0; i < in.length; i++) {
      for (int j = 0; j < in.length; j++) {
        part[i][j] = v[in[Math.max(i, j)]][in[Math.min(i, j)]];
      }
    }
    double[][] whole = new JacobiEigen(part).withoutNegative();
    double[] variances = made.variances.clone();
    for (int i = 0; i < in.length; i++) {
      variances[in[i]] = whole[i][i];
      for (int j = 0; j < in.length; j++) {
        v[in[i]][in[j]] = whole[i][j];
      }
    }
    return new RobustCovariance(
        new Made(
            made.estimator,
            made.columns,
            made.coefficients,
            variances,
            v,
            made.clusters,
            made.degreesOfFreedom,
            made.leverageOne,
            true));
  }

  /** Whether negative eigenvalues were put at zero. */
  public boolean isRepaired() {
    return made.repaired;
  }

  /**
   * Number of rows of leverage 1, for which HC2 and HC3 divide 0 by 0: their residual is 0 for any
   * error variance. The variances of the coefficients that such a row moves are NaN.
   */
  public long rowsOfLeverageOne() {
    return made.leverageOne;
  }

  /** Estimate, error, t and p for each column. */
  public List<ContrastTest> tests() {
    var tests = new ArrayList<ContrastTest>();
    double[] errors = standardErrors();
    for (int k = 0; k < errors.length; k++) {
      double open = Double.isNaN(made.variances[k]) ? Double.NaN : 1;
      tests.add(
          ContrastTest.of(
              made.coefficients[k] * open, errors[k], made.degreesOfFreedom, open == 1));
    }
    return tests;
  }

  /**
   * A joint test of all l'b = c.
   *
   * @param contrasts combinations of the requested columns only; their labels are c
   * @throws IllegalArgumentException if a contrast has another column or depends on earlier ones
   */
  public WaldTest waldTest(List<SparseRow> contrasts) {
    double[][] v = covariance();
    int q = contrasts.size();
    double[][] l = new double[q][v.length];
    double[] c = new double[q];
    for (int i = 0; i < q; i++) {
      SparseRow row = contrasts.get(i);
      c[i] = row.labels().length == 0 ? 0 : -row.labels()[0];
      for (int e = 0; e < row.indices().length; e++) {
        int at = place(row.indices()[e]);
        l[i][at] += row.values()[e];
        c[i] += row.values()[e] * made.coefficients[at];
      }
    }
    double[][] g = new double[q][q];
    for (int i = 0; i < q; i++) {
      for (int j = 0; j <= i; j++) {
        g[i][j] = form(l[i], v, l[j]);
        g[j][i] = g[i][j];
      }
    }
    return WaldTest.of(Gram.of(g, c), q, made.degreesOfFreedom);
  }

  private int place(int column) {
    for (int k = 0; k < made.columns.length; k++) {
      if (made.columns[k] == column) {
        return k;
      }
    }
    throw new IllegalArgumentException("column " + column + " was not asked for");
  }

  private static double form(double[] a, double[][] v, double[] b) {
    double sum = 0;
    for (int i = 0; i < a.length; i++) {
      for (int j = 0; a[i] != 0 && j < b.length; j++) {
        sum += b[j] == 0 ? 0 : a[i] * v[i][j] * b[j];
      }
    }
    return sum;
  }
}
