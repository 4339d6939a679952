/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign.regression;

/**
 * The unevaluated sum of two doubles, about 32 digits (Dekker 1971; Hida, Li and Bailey 2001): what
 * the oracle calculates with, so that its rounding stays far below that of the product.
 *
 * @param high the nearest double
 * @param low the rest, at most half an ulp of high
 */
record DoubleDouble(double high, double low) {

  static final DoubleDouble ZERO = new DoubleDouble(0, 0);
  static final DoubleDouble ONE = new DoubleDouble(1, 0);

  static DoubleDouble of(double x) {
    return new DoubleDouble(x, 0);
  }

  /** Normalizes a pair whose first number is the larger one. */
  private static DoubleDouble pair(double a, double b) {
    double s = a + b;
    return new DoubleDouble(s, b - (s - a));
  }

  DoubleDouble plus(DoubleDouble o) {
    double s = high + o.high;
    double v = s - high;
    double e = (high - (s - v)) + (o.high - v);
    double t = low + o.low;
    double w = t - low;
    double f = (low - (t - w)) + (o.low - w);
    DoubleDouble first = pair(s, e + t);
    return pair(first.high, first.low + f);
  }

  DoubleDouble negative() {
    return new DoubleDouble(-high, -low);
  }

  DoubleDouble minus(DoubleDouble o) {
    return plus(o.negative());
  }

  DoubleDouble times(DoubleDouble o) {
    double p = high * o.high;
    double e = Math.fma(high, o.high, -p);
    return pair(p, e + (high * o.low + low * o.high));
  }

  DoubleDouble times(double o) {
    return times(of(o));
  }

  DoubleDouble over(DoubleDouble o) {
    double first = high / o.high;
    DoubleDouble rest = minus(o.times(first));
    double second = rest.high / o.high;
    rest = rest.minus(o.times(second));
    return pair(first, second).plus(of(rest.high / o.high));
  }

  /** The square root; 0 of what is not positive. */
  DoubleDouble root() {
    if (high <= 0) {
      return ZERO;
    }
    DoubleDouble x = of(Math.sqrt(high));
    // One step of Newton's doubles the digits.
    return x.plus(minus(x.times(x)).over(x.times(2)));
  }

  double value() {
    return high + low;
  }

  /** The inner product. */
  static DoubleDouble dot(DoubleDouble[] a, DoubleDouble[] b) {
    DoubleDouble sum = ZERO;
    for (int i = 0; i < a.length; i++) {
      sum = sum.plus(a[i].times(b[i]));
    }
    return sum;
  }

  /** The squared 2-norm. */
  static DoubleDouble square(DoubleDouble[] a) {
    return dot(a, a);
  }

  static DoubleDouble[] of(double[] a) {
    var all = new DoubleDouble[a.length];
    for (int i = 0; i < a.length; i++) {
      all[i] = of(a[i]);
    }
    return all;
  }

  static double[] values(DoubleDouble[] a) {
    var all = new double[a.length];
    for (int i = 0; i < a.length; i++) {
      all[i] = a[i].value();
    }
    return all;
  }
}
