/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.dependence;

import io.sparqr.spark.model.Dependency;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;

/**
 * sqrt(diag) of the covariance, for sigma = 1, of a basic solution moved along the null space. The
 * moved x_j is p_j'x with p_j = e_j + sum over the dropped columns k of c_kj e_k, c_kj the
 * coefficient of column j in the combination for column k, so its variance is p_j'G p_j with G =
 * (R'R)^-1 on R's own columns, zero elsewhere. Costs one solve with R'R for each dropped column
 * that is live in R, and a forward substitution for each column whose terms cancel.
 */
public final class MovedErrors {

  /**
   * A sum below this fraction of the absolute values of its terms is recomputed as a norm. The
   * products of which terms consist may be far larger than the terms themselves.
   */
  private static final double CANCELLED = 1e-4;

  private static final int BATCH = 64;
  private static final long BATCH_VALUES = 8 << 20;

  /** Solves with R; all vectors by original column, equilibrated, width values each. */
  public interface Normal {
    /** (R'R)^-1 g. */
    double[] solve(double[] g, int width);

    /** ||R^-T p|| of each right-hand side. */
    double[] norms(double[] p, int width);
  }

  private final BitSet deadInR = new BitSet();
  private final List<Dependency> moved = new ArrayList<>();
  private final BitSet dropped = new BitSet();
  private final Normal normal;

  MovedErrors(int[] byR, List<Dependency> dependencies, Normal normal) {
    this.normal = normal;
    Arrays.stream(byR).forEach(deadInR::set);
    for (Dependency d : dependencies) {
      dropped.set(d.column());
      if (!deadInR.get(d.column())) {
        moved.add(d);
      }
    }
  }

  /**
   * Computes the errors.
   *
   * @param ofR errors of R's basic solution, NaN in its dead columns
   * @return NaN in the dropped columns
   */
  double[] run(double[] ofR) {
    int n = ofR.length;
    int[][] terms = new int[n][];
    double[][] part = new double[n][];
    rows(terms, part);
    double[] cross = new double[n];
    double[] size = new double[n];
    double[][] block = solve(n, terms, part, cross, size);
    double[] error = new double[n];
    var open = new ArrayList<Integer>();
    for (int j = 0; j < n; j++) {
      if (dropped.get(j)) {
        error[j] = Double.NaN;
        continue;
      }
      if (terms[j] == null) {
        error[j] = ofR[j];
        continue;
      }
      double own = deadInR.get(j) ? 0 : ofR[j] * ofR[j];
      double sum = own + 2 * cross[j] + quadratic(block, terms[j], part[j], false);
      double most = own + 2 * size[j] + quadratic(block, terms[j], part[j], true);
      error[j] = Math.sqrt(Math.max(0, sum));
      if (!(sum > CANCELLED * most)) {
        open.add(j);
      }
    }
    exactly(open, terms, part, error);
    return error;
  }

  /** For each column that occurs in moved ones: their numbers and its coefficients. */
  private void rows(int[][] terms, double[][] part) {
    int[] count = new int[terms.length];
    for (Dependency d : moved) {
      for (int j : d.on()) {
        count[j]++;
      }
    }
    for (int k = 0; k < moved.size(); k++) {
      int[] on = moved.get(k).on();
      for (int i = 0; i < on.length; i++) {
        int j = on[i];
        if (terms[j] == null) {
          terms[j] = new int[count[j]];
          part[j] = new double[count[j]];
          count[j] = 0;
        }
        terms[j][count[j]] = k;
        part[j][count[j]++] = moved.get(k).coefficients()[i];
      }
    }
  }

  /**
   * G between the moved columns, and for each column the sum of its cross terms with them.
   *
   * @param size receives the sums of the absolute values of the cross terms
   */
  private double[][] solve(int n, int[][] terms, double[][] part, double[] cross, double[] size) {
    int count = moved.size();
    double[][] block = new double[count][count];
    int batch = (int) Math.max(1, Math.min(BATCH, BATCH_VALUES / n));
    for (int from = 0; from < count; from += batch) {
      int width = Math.min(batch, count - from);
      double[] g = new double[n * width];
      for (int k = 0; k < width; k++) {
        g[moved.get(from + k).column() * width + k] = 1;
      }
      double[] y = normal.solve(g, width);
      for (int l = 0; l < count; l++) {
        for (int k = 0; k < width; k++) {
          block[from + k][l] = y[moved.get(l).column() * width + k];
        }
      }
      for (int j = 0; j < n; j++) {
        for (int t = 0; terms[j] != null && t < terms[j].length; t++) {
          int k = terms[j][t] - from;
          if (k >= 0 && k < width && !deadInR.get(j)) {
            double term = part[j][t] * y[j * width + k];
            cross[j] += term;
            size[j] += Math.abs(term);
          }
        }
      }
    }
    return block;
  }

  private static double quadratic(double[][] block, int[] terms, double[] part, boolean absolute) {
    double sum = 0;
    for (int s = 0; s < terms.length; s++) {
      for (int t = 0; t < terms.length; t++) {
        double term = part[s] * part[t] * block[terms[s]][terms[t]];
        sum += absolute ? Math.abs(term) : term;
      }
    }
    return sum;
  }

  private void exactly(List<Integer> open, int[][] terms, double[][] part, double[] error) {
    int n = error.length;
    int batch = (int) Math.max(1, Math.min(BATCH, BATCH_VALUES / n));
    for (int from = 0; from < open.size(); from += batch) {
      int width = Math.min(batch, open.size() - from);
      double[] p = new double[n * width];
      for (int k = 0; k < width; k++) {
        int j = open.get(from + k);
        if (!deadInR.get(j)) {
          p[j * width + k] = 1;
        }
        for (int t = 0; t < terms[j].length; t++) {
          p[moved.get(terms[j][t]).column() * width + k] += part[j][t];
        }
      }
      double[] norm = normal.norms(p, width);
      for (int k = 0; k < width; k++) {
        error[open.get(from + k)] = norm[k];
      }
    }
  }
}
