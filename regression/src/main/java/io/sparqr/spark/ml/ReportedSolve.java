/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.ml;

import io.sparqr.spark.QRFactorization;
import io.sparqr.spark.inference.WaldTest;
import io.sparqr.spark.model.HalfSolve;
import io.sparqr.spark.model.SparseRow;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * The part of (A'A)^-1 for a few columns of a fit, by one triangular solve.
 *
 * @param columns original indices
 * @param live whether each of them is live
 * @param half R^-T e_j for each
 */
record ReportedSolve(int[] columns, boolean[] live, HalfSolve half) {

  /** Columns of one batch. */
  static final int FEW = 64;

  /** Limit for their values on the driver. */
  private static final long MOST_VALUES = 1L << 23;

  /** Whether this number of the n columns is affordable. */
  static boolean affordable(int columns, int n) {
    return columns <= FEW && (long) columns * n <= MOST_VALUES;
  }

  /** One triangular solve with R. */
  static ReportedSolve of(QRFactorization f, int[] columns) {
    int n = f.analysis().columns();
    var units = new ArrayList<SparseRow>();
    for (int j : columns) {
      units.add(new SparseRow(new int[] {j}, new double[] {1}, new double[] {0}, 1, n));
    }
    int[] dead = f.deadColumns();
    boolean[] live = new boolean[columns.length];
    for (int k = 0; k < columns.length; k++) {
      live[k] = Arrays.binarySearch(dead, columns[k]) < 0;
    }
    return new ReportedSolve(columns, live, f.halfSolve(units));
  }

  /**
   * Roots of the diagonal of (A'A)^-1 in an array of size n; NaN for other columns and for
   * dependent ones.
   */
  double[] errors(int n) {
    double[] errors = new double[n];
    Arrays.fill(errors, Double.NaN);
    for (int k = 0; k < columns.length; k++) {
      if (live[k]) {
        errors[columns[k]] = half.norm(k);
      }
    }
    return errors;
  }

  /** sigma^2 (A'A)^-1 of the columns, k x k; NaN for dependent ones. */
  double[][] covariance(double sigma) {
    double[][] v = new double[columns.length][columns.length];
    for (int i = 0; i < v.length; i++) {
      for (int j = 0; j <= i; j++) {
        v[i][j] = live[i] && live[j] ? sigma * half.product(i, j) * sigma : Double.NaN;
        v[j][i] = v[i][j];
      }
    }
    return v;
  }

  /**
   * The part of the squared errors, as left by the other columns, that the independent columns
   * explain: b'S b, where S is the inverse of their part of (A'A)^-1.
   *
   * @param x all coefficients
   */
  double explained(double[] x) {
    int[] some = IntStream.range(0, columns.length).filter(k -> live[k]).toArray();
    double[][] root = new double[some.length][];
    double[] b = new double[some.length];
    for (int k = 0; k < some.length; k++) {
      root[k] = half.column(some[k]);
      b[k] = x[columns[some[k]]];
    }
    return WaldTest.quadraticForm(root, b);
  }
}
