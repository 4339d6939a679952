/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign.regression;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A = QR of a small dense matrix by modified Gram-Schmidt, twice, in {@link DoubleDouble}. A column
 * of which nothing is left beside the columns before it is dependent, and left out.
 */
final class DenseQr {

  /** Of a dependent column of doubles, at most this part of its norm remains. */
  private static final double DEPENDENT = 1e-12;

  private final List<Integer> kept = new ArrayList<>();
  private final List<DoubleDouble[]> q = new ArrayList<>();

  /** Column k of R: entry j for the j-th kept column. */
  private final List<DoubleDouble[]> r = new ArrayList<>();

  private final List<Double> scale = new ArrayList<>();
  private double least = 1;

  /**
   * Factorizes.
   *
   * @param columns in the order of their standing
   */
  DenseQr(List<DoubleDouble[]> columns) {
    for (int j = 0; j < columns.size(); j++) {
      add(j, columns.get(j));
    }
  }

  private void add(int j, DoubleDouble[] column) {
    DoubleDouble[] v = column.clone();
    double norm = DoubleDouble.square(v).root().value();
    var coefficients = new DoubleDouble[q.size() + 1];
    Arrays.fill(coefficients, DoubleDouble.ZERO);
    for (int pass = 0; pass < 2; pass++) {
      for (int k = 0; k < q.size(); k++) {
        DoubleDouble[] unit = q.get(k);
        DoubleDouble c = DoubleDouble.dot(unit, v);
        coefficients[k] = coefficients[k].plus(c);
        for (int i = 0; i < v.length; i++) {
          v[i] = v[i].minus(unit[i].times(c));
        }
      }
    }
    DoubleDouble rest = DoubleDouble.square(v).root();
    double part = norm == 0 ? 0 : rest.value() / norm;
    if (part <= DEPENDENT) {
      return;
    }
    least = Math.min(least, part);
    for (int i = 0; i < v.length; i++) {
      v[i] = v[i].over(rest);
    }
    coefficients[q.size()] = rest;
    kept.add(j);
    q.add(v);
    r.add(coefficients);
    scale.add(norm);
  }

  /** Indices of the independent columns, ascending. */
  List<Integer> kept() {
    return kept;
  }

  int rank() {
    return kept.size();
  }

  /** The least part of a column's norm that was left of an independent one. */
  double least() {
    return least;
  }

  /** The squared norm of the i-th row of Q. */
  DoubleDouble leverage(int i) {
    DoubleDouble sum = DoubleDouble.ZERO;
    for (DoubleDouble[] unit : q) {
      sum = sum.plus(unit[i].times(unit[i]));
    }
    return sum;
  }

  /** The coefficients of the kept columns. */
  DoubleDouble[] solve(DoubleDouble[] y) {
    DoubleDouble[] rest = y.clone();
    var c = new DoubleDouble[q.size()];
    Arrays.fill(c, DoubleDouble.ZERO);
    for (int pass = 0; pass < 2; pass++) {
      for (int k = 0; k < q.size(); k++) {
        DoubleDouble d = DoubleDouble.dot(q.get(k), rest);
        c[k] = c[k].plus(d);
        for (int i = 0; i < rest.length; i++) {
          rest[i] = rest[i].minus(q.get(k)[i].times(d));
        }
      }
    }
    return back(c);
  }

  /** y less its projection. */
  DoubleDouble[] residual(DoubleDouble[] y) {
    DoubleDouble[] rest = y.clone();
    for (int pass = 0; pass < 2; pass++) {
      for (DoubleDouble[] unit : q) {
        DoubleDouble d = DoubleDouble.dot(unit, rest);
        for (int i = 0; i < rest.length; i++) {
          rest[i] = rest[i].minus(unit[i].times(d));
        }
      }
    }
    return rest;
  }

  /** The inverse of R times c. */
  private DoubleDouble[] back(DoubleDouble[] c) {
    DoubleDouble[] x = c.clone();
    for (int k = x.length - 1; k >= 0; k--) {
      x[k] = x[k].over(r.get(k)[k]);
      for (int j = 0; j < k; j++) {
        x[j] = x[j].minus(r.get(k)[j].times(x[k]));
      }
    }
    return x;
  }

  /** R^-1 Q', size rank x rows: the pseudoinverse of the kept columns. */
  DoubleDouble[][] pseudoinverse() {
    int rows = q.isEmpty() ? 0 : q.get(0).length;
    var p = new DoubleDouble[q.size()][rows];
    var c = new DoubleDouble[q.size()];
    for (int i = 0; i < rows; i++) {
      for (int k = 0; k < c.length; k++) {
        c[k] = q.get(k)[i];
      }
      DoubleDouble[] x = back(c);
      for (int k = 0; k < c.length; k++) {
        p[k][i] = x[k];
      }
    }
    return p;
  }

  /** The condition of the kept columns with unit norms, by Frobenius norms. */
  double condition() {
    double sum = 0;
    DoubleDouble[][] p = pseudoinverse();
    for (int k = 0; k < p.length; k++) {
      sum += DoubleDouble.square(p[k]).value() * scale.get(k) * scale.get(k);
    }
    return Math.sqrt(sum * Math.max(1, p.length));
  }
}
