/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.survey;

import io.sparqr.sparse.CsrMatrix;
import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * Products and norms as if in twice the working precision and rounded once (Ogita, Rump, Oishi
 * 2005, SIAM J. Sci. Comput. 26: Dot2), so that a survey measures the error of the answer and not
 * its own rounding.
 */
final class Compensated {

  private Compensated() {}

  /** Sums of products, one for each index, each kept as the unevaluated sum of two doubles. */
  static final class Sums {
    private final double[] high;
    private final double[] low;

    Sums(int size) {
      high = new double[size];
      low = new double[size];
    }

    /** Adds x y to sum j. */
    void add(int j, double x, double y) {
      double p = x * y;
      double s = high[j] + p;
      double t = s - high[j];
      low[j] += (high[j] - (s - t)) + (p - t) + Math.fma(x, y, -p);
      high[j] = s;
    }

    /** Adds sum i of others to sum j. */
    void addSum(int j, Sums others, int i) {
      add(j, others.high[i], 1);
      low[j] += others.low[i];
    }

    double get(int j) {
      return high[j] + low[j];
    }

    double[] values() {
      double[] v = new double[high.length];
      Arrays.setAll(v, this::get);
      return v;
    }
  }

  /** b - A x; b null: A x. O(nnz), by the common pool. */
  static double[] residual(CsrMatrix a, double[] x, double[] b) {
    double[] r = new double[a.rows()];
    int chunk = 1 << 12;
    IntStream.range(0, (a.rows() + chunk - 1) / chunk)
        .parallel()
        .forEach(
            c -> {
              for (int i = c * chunk; i < Math.min(a.rows(), (c + 1) * chunk); i++) {
                r[i] = row(a, i, x, b);
              }
            });
    return r;
  }

  private static double row(CsrMatrix a, int i, double[] x, double[] b) {
    double sign = b == null ? 1 : -1;
    double high = b == null ? 0 : b[i];
    double low = 0;
    for (int k = a.rowStart()[i]; k < a.rowStart()[i + 1]; k++) {
      double v = sign * a.values()[k];
      double p = v * x[a.columnIndex()[k]];
      double s = high + p;
      double t = s - high;
      low += (high - (s - t)) + (p - t) + Math.fma(v, x[a.columnIndex()[k]], -p);
      high = s;
    }
    return high + low;
  }

  /** A'r. O(nnz). */
  static double[] transposed(CsrMatrix a, double[] r) {
    var sums = new Sums(a.columns());
    for (int i = 0; i < a.rows(); i++) {
      for (int k = a.rowStart()[i]; k < a.rowStart()[i + 1]; k++) {
        sums.add(a.columnIndex()[k], a.values()[k], r[i]);
      }
    }
    return sums.values();
  }

  /** 2-norm, without overflow and underflow; NaN if an entry is. */
  static double norm(double[] v) {
    double largest = 0;
    for (double e : v) {
      largest = Math.max(largest, Math.abs(e));
    }
    if (largest == 0 || !Double.isFinite(largest)) {
      return largest;
    }
    int exponent = Math.getExponent(largest);
    var sum = new Sums(1);
    for (double e : v) {
      double x = Math.scalb(e, -exponent);
      sum.add(0, x, x);
    }
    return Math.scalb(Math.sqrt(sum.get(0)), exponent);
  }
}
