/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.gram;

/**
 * A short column of sums in twice the precision, as {@link Pairs}, to which multiples of columns
 * are added. Arrays of their own from index 0 on, since the compiler vectorizes no loop whose
 * indices have an offset: 0.8 cycles a product instead of 6.
 */
final class PairColumn {

  final double[] high;
  final double[] low;

  PairColumn(int length) {
    high = new double[length];
    low = new double[length];
  }

  /** Sums[0 .. length) += (f + g) x[0 .. length), g small beside f. */
  void add(double f, double g, double[] x, int length) {
    double[] h = high;
    double[] l = low;
    for (int i = 0; i < length; i++) {
      double v = x[i];
      double p = f * v;
      double old = h[i];
      double sum = old + p;
      double b = sum - old;
      l[i] += ((old - (sum - b)) + (p - b)) + Math.fma(g, v, Math.fma(f, v, -p));
      h[i] = sum;
    }
  }
}
