/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.solve;

/** 2-norms without overflow or harmful underflow. */
public final class Norms {

  /** Sums of squares in [LEAST, MOST] are accurate. */
  private static final double LEAST = 1e-250;

  private static final double MOST = 1e300;

  private Norms() {}

  /** The norm of x[at], ..., x[at + count - 1]. */
  public static double norm(double[] x, int at, int count) {
    return norm(x, at, count, 1);
  }

  /** The norm of x[at], x[at + step], ..., count values. */
  public static double norm(double[] x, int at, int count, int step) {
    double sum = 0;
    double max = 0;
    for (int i = 0; i < count; i++) {
      double v = x[at + i * step];
      sum += v * v;
      max = Math.max(max, Math.abs(v));
    }
    if (sum >= LEAST && sum <= MOST || max == 0 || !Double.isFinite(max)) {
      return Math.sqrt(sum);
    }
    int e = Math.getExponent(max);
    sum = 0;
    for (int i = 0; i < count; i++) {
      double v = Math.scalb(x[at + i * step], -e);
      sum += v * v;
    }
    return Math.scalb(Math.sqrt(sum), e);
  }
}
