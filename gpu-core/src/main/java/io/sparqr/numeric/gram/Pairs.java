/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.gram;

import java.util.Arrays;

/**
 * Sums of products in about twice the precision: each is the unevaluated sum of two doubles. A
 * product is split exactly by a fused multiply-add, its addition by Knuth's two-sum (Ogita, Rump,
 * Oishi, Accurate sum and dot product, SIAM J. Sci. Comput. 26, 2005, algorithm Dot2): of k terms
 * the error is eps of the result and k^2 eps^2 of the sum of absolute values.
 */
final class Pairs {

  final double[] high;
  final double[] low;

  Pairs(int length) {
    this(new double[length], new double[length]);
  }

  Pairs(double[] high, double[] low) {
    this.high = high;
    this.low = low;
  }

  /** Sums[at .. at + s) += f x[from .. from + s). */
  void add(int at, double f, double[] x, int from, int s) {
    double[] h = high;
    double[] l = low;
    for (int q = 0; q < s; q++) {
      double v = x[from + q];
      double p = f * v;
      double old = h[at + q];
      double sum = old + p;
      double b = sum - old;
      l[at + q] += ((old - (sum - b)) + (p - b)) + Math.fma(f, v, -p);
      h[at + q] = sum;
    }
  }

  /** Sums[at .. at + s) += f (x + y)[from .. from + s), y small beside x. */
  void add(int at, double f, Pairs x, int from, int s) {
    double[] h = high;
    double[] l = low;
    for (int q = 0; q < s; q++) {
      double v = x.high[from + q];
      double p = f * v;
      double old = h[at + q];
      double sum = old + p;
      double b = sum - old;
      l[at + q] += ((old - (sum - b)) + (p - b)) + Math.fma(f, x.low[from + q], Math.fma(f, v, -p));
      h[at + q] = sum;
    }
  }

  /** Sum k += x. */
  void add(int k, double x) {
    double old = high[k];
    double sum = old + x;
    double b = sum - old;
    low[k] += (old - (sum - b)) + (x - b);
    high[k] = sum;
  }

  /** All sums += those of other pairs of the same length. */
  void add(Pairs other) {
    for (int k = 0; k < high.length; k++) {
      add(k, other.high[k]);
      low[k] += other.low[k];
    }
  }

  void clear() {
    Arrays.fill(high, 0);
    Arrays.fill(low, 0);
  }

  double value(int k) {
    return high[k] + low[k];
  }

  /** All sums, rounded. */
  double[] values() {
    double[] x = new double[high.length];
    for (int k = 0; k < x.length; k++) {
      x[k] = high[k] + low[k];
    }
    return x;
  }
}
