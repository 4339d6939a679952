/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign;

/**
 * The number mantissa 2^exponent: a double without limits on its exponent, for norms that overflow
 * or underflow.
 *
 * @param mantissa 0, or of absolute value in [1, 2)
 * @param exponent 0 for the number 0
 */
record Scaled(double mantissa, int exponent) {

  static final Scaled ZERO = new Scaled(0, 0);

  /** The number m 2^e, for any finite m. */
  static Scaled of(double m, int e) {
    if (m == 0) {
      return ZERO;
    }
    // a subnormal m has no exponent of its own
    double normal = Math.abs(m) < Double.MIN_NORMAL ? m * 0x1p60 : m;
    int more = normal == m ? 0 : -60;
    int own = Math.getExponent(normal);
    return new Scaled(Math.scalb(normal, -own), Math.addExact(e, own + more));
  }

  /** A finite double. */
  static Scaled of(double x) {
    return of(x, 0);
  }

  /** In units of 2^unit; infinite or 0 where that is out of range. */
  double in(int unit) {
    long e = (long) exponent - unit;
    return Math.scalb(mantissa, (int) Math.max(-3000, Math.min(3000, e)));
  }

  /** The nearest double; infinite where there is none. */
  double value() {
    return in(0);
  }

  /** 2-norm, to a few units of rounding. */
  static Scaled norm(Scaled[] v) {
    int most = Integer.MIN_VALUE;
    for (Scaled s : v) {
      most = s.mantissa == 0 ? most : Math.max(most, s.exponent);
    }
    if (most == Integer.MIN_VALUE) {
      return ZERO;
    }
    double sum = 0;
    for (Scaled s : v) {
      double x = s.in(most);
      sum += x * x;
    }
    return of(Math.sqrt(sum), most);
  }

  Scaled plus(Scaled other) {
    int unit = Math.max(unit(), other.unit());
    return of(in(unit) + other.in(unit), unit);
  }

  Scaled minus(Scaled other) {
    return plus(new Scaled(-other.mantissa, other.exponent));
  }

  Scaled times(Scaled other) {
    return mantissa == 0 || other.mantissa == 0
        ? ZERO
        : of(mantissa * other.mantissa, exponent + other.exponent);
  }

  Scaled times(double factor) {
    return times(of(factor));
  }

  Scaled abs() {
    return mantissa < 0 ? new Scaled(-mantissa, exponent) : this;
  }

  boolean atMost(Scaled other) {
    return minus(other).mantissa <= 0;
  }

  private int unit() {
    return mantissa == 0 ? Integer.MIN_VALUE / 2 : exponent;
  }

  @Override
  public String toString() {
    double v = value();
    boolean inRange = mantissa == 0 || Math.abs(v) >= Double.MIN_NORMAL && !Double.isInfinite(v);
    return inRange ? "%.6g".formatted(v) : "%.6f * 2^%d".formatted(mantissa, exponent);
  }
}
