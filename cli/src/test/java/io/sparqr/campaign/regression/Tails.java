/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign.regression;

/** Tail probabilities of t and F with whole degrees of freedom. */
final class Tails {

  private static final double TINY = 1e-300;
  private static final int MOST = 10_000;

  private Tails() {}

  /** P(|T| >= |t|). */
  static double student(double t, double df) {
    return beta(df / (df + t * t), t * t / (df + t * t), df / 2, 0.5);
  }

  /** P(F >= f). */
  static double fisher(double f, double df1, double df2) {
    double rest = df2 + df1 * f;
    return beta(df2 / rest, df1 * f / rest, df2 / 2, df1 / 2);
  }

  /** The regularized incomplete beta function of x = 1 - y (Lentz's continued fraction). */
  private static double beta(double x, double y, double a, double b) {
    if (x <= 0 || y <= 0) {
      return x <= 0 ? 0 : 1;
    }
    if (x > (a + 1) / (a + b + 2)) {
      return 1 - beta(y, x, b, a);
    }
    double log = a * Math.log(x) + b * Math.log(y);
    double front = Math.exp(log + logGamma(a + b) - logGamma(a) - logGamma(b)) / a;
    double c = 1;
    double d = 1 / away(1 - (a + b) * x / (a + 1));
    double f = d;
    for (int m = 1; m < MOST; m++) {
      double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
      d = 1 / away(1 + even * d);
      c = away(1 + even / c);
      f *= c * d;
      double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
      d = 1 / away(1 + odd * d);
      c = away(1 + odd / c);
      double step = c * d;
      f *= step;
      if (Math.abs(step - 1) < 1e-16) {
        break;
      }
    }
    return front * f;
  }

  private static double away(double x) {
    return Math.abs(x) < TINY ? TINY : x;
  }

  /** Of a positive multiple of 1/2. */
  private static double logGamma(double x) {
    double log = x == Math.rint(x) ? 0 : 0.5 * Math.log(Math.PI);
    for (double k = x == Math.rint(x) ? 1 : 0.5; k < x; k++) {
      log += Math.log(k);
    }
    return log;
  }
}
