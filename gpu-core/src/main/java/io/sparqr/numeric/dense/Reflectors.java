/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.dense;

import java.util.Arrays;

/**
 * Householder reflectors one at a time, H = I - tau v v' with v_0 = 1 (LAPACK's convention), in
 * column-major arrays. Four columns share each pass over v, so that a scalar core has eight
 * independent multiply-add chains (about 6 GFLOP/s a core where the data is in L1).
 */
public final class Reflectors {

  /** Sums of squares in this range are free of overflow and harmful underflow. */
  private static final double SAFE_LOW = 0x1p-960;

  private static final double SAFE_HIGH = 0x1p+1020;

  /** Norms in this range can be inverted, and added to each other, without loss of a bit. */
  private static final double LEAST_NORM = 0x1p-960;

  private static final double LARGEST_NORM = 0x1p+960;

  /**
   * Sums of more than twice this many products are formed in blocks of this size, and the blocks
   * are added with compensation: rounding errors of equal terms all have one sign, and a million of
   * them would cost five digits.
   */
  private static final int BLOCK = 256;

  private Reflectors() {}

  /** 2-norm of a[from .. from + length), free of overflow and underflow. */
  public static double norm(double[] a, int from, int length) {
    double sum = sumOfSquares(a, from, length);
    if (isSafeSquare(sum)) {
      return Math.sqrt(sum);
    }
    double max = 0;
    for (int i = from; i < from + length; i++) {
      max = Math.max(max, Math.abs(a[i]));
    }
    if (max == 0 || max == Double.POSITIVE_INFINITY || Double.isNaN(max)) {
      return max;
    }
    // Powers of two lose no bit; two factors because one may not be representable.
    int e = Math.getExponent(max);
    double s1 = Math.scalb(1.0, -e / 2);
    double s2 = Math.scalb(1.0, -(e - e / 2));
    double scaled = 0;
    for (int i = from; i < from + length; i++) {
      double x = a[i] * s1 * s2;
      scaled = Math.fma(x, x, scaled);
    }
    return Math.scalb(Math.sqrt(scaled), e);
  }

  /** Whether a sum of squares has suffered neither overflow nor harmful underflow. */
  static boolean isSafeSquare(double sum) {
    return sum > SAFE_LOW && sum < SAFE_HIGH;
  }

  /** Sum of squares of a[from .. from + length); the error does not grow with the length. */
  static double sumOfSquares(double[] a, int from, int length) {
    if (length <= 2 * BLOCK) {
      return shortSumOfSquares(a, from, length);
    }
    double sum = 0;
    double lost = 0;
    for (int i = 0; i < length; i += BLOCK) {
      double x = shortSumOfSquares(a, from + i, Math.min(BLOCK, length - i));
      double t = sum + x;
      // The rounding error (Dekker): the larger term first.
      lost += sum >= x ? (sum - t) + x : (x - t) + sum;
      sum = t;
    }
    double all = sum + lost;
    return Double.isNaN(all) ? sum : all;
  }

  private static double shortSumOfSquares(double[] a, int from, int length) {
    double s0 = 0;
    double s1 = 0;
    double s2 = 0;
    double s3 = 0;
    int i = from;
    int end = from + length;
    for (; i + 3 < end; i += 4) {
      s0 = Math.fma(a[i], a[i], s0);
      s1 = Math.fma(a[i + 1], a[i + 1], s1);
      s2 = Math.fma(a[i + 2], a[i + 2], s2);
      s3 = Math.fma(a[i + 3], a[i + 3], s3);
    }
    for (; i < end; i++) {
      s0 = Math.fma(a[i], a[i], s0);
    }
    return (s0 + s1) + (s2 + s3);
  }

  /**
   * Turns x = a[at .. at + length) of 2-norm {@code norm} into beta e_1: beta at a[at], v below it.
   * H is orthogonal to working precision for x of any size: rank-deficient matrices produce
   * rounding errors of rounding errors down to subnormal numbers, where beta itself has only a few
   * bits.
   *
   * @return tau; 0 where x is already a multiple of e_1
   */
  public static double make(double[] a, int at, int length, double norm) {
    if (isZero(a, at + 1, length - 1)) {
      return 0;
    }
    if (norm > LEAST_NORM && norm < LARGEST_NORM) {
      return makeInRange(a, at, length, norm);
    }
    // As LAPACK's dlarfg: scaled, by a power of two; v and tau do not depend on it.
    double max = 0;
    for (int i = at; i < at + length; i++) {
      max = Math.max(max, Math.abs(a[i]));
    }
    int e = Math.getExponent(max);
    for (int i = at; i < at + length; i++) {
      a[i] = Math.scalb(a[i], -e);
    }
    double tau = makeInRange(a, at, length, norm(a, at, length));
    a[at] = Math.scalb(a[at], e);
    return tau;
  }

  private static double makeInRange(double[] a, int at, int length, double norm) {
    double alpha = a[at];
    double beta = alpha > 0 ? -norm : norm;
    double d = alpha - beta;
    double r = 1 / d;
    for (int i = at + 1; i < at + length; i++) {
      a[i] *= r;
    }
    a[at] = beta;
    return -d / beta;
  }

  /**
   * As above, for a vector stored in two parts: alpha at r[top], and the rest, x, at a[at .. at +
   * length), where v replaces it.
   *
   * @param norm of x alone
   * @return tau; 0 where x is zero
   */
  static double makeApart(double[] r, int top, double[] a, int at, int length, double norm) {
    if (isZero(a, at, length)) {
      return 0;
    }
    double all = Math.hypot(r[top], norm);
    if (all > LEAST_NORM && all < LARGEST_NORM) {
      return makeApartInRange(r, top, a, at, length, all);
    }
    double max = Math.abs(r[top]);
    for (int i = at; i < at + length; i++) {
      max = Math.max(max, Math.abs(a[i]));
    }
    int e = Math.getExponent(max);
    r[top] = Math.scalb(r[top], -e);
    for (int i = at; i < at + length; i++) {
      a[i] = Math.scalb(a[i], -e);
    }
    all = Math.hypot(r[top], norm(a, at, length));
    double tau = makeApartInRange(r, top, a, at, length, all);
    r[top] = Math.scalb(r[top], e);
    return tau;
  }

  private static double makeApartInRange(
      double[] r, int top, double[] a, int at, int length, double norm) {
    double beta = r[top] > 0 ? -norm : norm;
    double d = r[top] - beta;
    double inverse = 1 / d;
    for (int i = at; i < at + length; i++) {
      a[i] *= inverse;
    }
    r[top] = beta;
    return -d / beta;
  }

  private static boolean isZero(double[] a, int from, int length) {
    for (int i = from; i < from + length; i++) {
      if (a[i] != 0) {
        return false;
      }
    }
    return true;
  }

  /**
   * Applies H from the left to columns [from, to) of a: rows row .. row + length - 1. v is in
   * column {@code vColumn} of the same rows, its leading 1 not stored.
   */
  static void apply(
      double[] a, int lda, int row, int length, int vColumn, double tau, int from, int to) {
    int v = row + vColumn * lda;
    if (length > 2 * BLOCK) {
      applyLong(a, lda, row, length, v, tau, from, to);
      return;
    }
    int k = from;
    for (; k + 3 < to; k += 4) {
      int c = row + k * lda;
      apply4(a, v, c, c + lda, c + 2 * lda, c + 3 * lda, length, tau);
    }
    if (k + 1 < to) {
      apply2(a, v, row + k * lda, row + (k + 1) * lda, length, tau);
      k += 2;
    }
    if (k < to) {
      apply1(a, v, row + k * lda, length, tau);
    }
  }

  /** As above, for long columns, four at a time. */
  private static void applyLong(
      double[] a, int lda, int row, int length, int v, double tau, int from, int to) {
    double[] s = new double[4];
    for (int k = from; k < to; k += 4) {
      int count = Math.min(4, to - k);
      int c = row + k * lda;
      dots(a, v + 1, c + 1, lda, count, length - 1, s, 0);
      for (int j = 0; j < count; j++) {
        s[j] = -tau * (a[c + j * lda] + s[j]);
        a[c + j * lda] += s[j];
      }
      for (int i = 1; i < length; i += BLOCK) {
        int end = Math.min(length, i + BLOCK);
        for (int j = 0; j < count; j++) {
          add(a, v, c + j * lda, i, end, s[j]);
        }
      }
    }
  }

  /** a[y + i] += s a[x + i] for i in [from, to). */
  static void add(double[] a, int x, int y, int from, int to, double s) {
    for (int i = from; i < to; i++) {
      a[y + i] = Math.fma(s, a[x + i], a[y + i]);
    }
  }

  private static void apply4(
      double[] a, int v, int c0, int c1, int c2, int c3, int length, double tau) {
    double s0 = a[c0];
    double s1 = a[c1];
    double s2 = a[c2];
    double s3 = a[c3];
    double u0 = 0;
    double u1 = 0;
    double u2 = 0;
    double u3 = 0;
    int i = 1;
    for (; i + 1 < length; i += 2) {
      double x = a[v + i];
      double y = a[v + i + 1];
      s0 = Math.fma(x, a[c0 + i], s0);
      s1 = Math.fma(x, a[c1 + i], s1);
      s2 = Math.fma(x, a[c2 + i], s2);
      s3 = Math.fma(x, a[c3 + i], s3);
      u0 = Math.fma(y, a[c0 + i + 1], u0);
      u1 = Math.fma(y, a[c1 + i + 1], u1);
      u2 = Math.fma(y, a[c2 + i + 1], u2);
      u3 = Math.fma(y, a[c3 + i + 1], u3);
    }
    if (i < length) {
      double x = a[v + i];
      s0 = Math.fma(x, a[c0 + i], s0);
      s1 = Math.fma(x, a[c1 + i], s1);
      s2 = Math.fma(x, a[c2 + i], s2);
      s3 = Math.fma(x, a[c3 + i], s3);
    }
    s0 = -tau * (s0 + u0);
    s1 = -tau * (s1 + u1);
    s2 = -tau * (s2 + u2);
    s3 = -tau * (s3 + u3);
    a[c0] += s0;
    a[c1] += s1;
    a[c2] += s2;
    a[c3] += s3;
    for (i = 1; i < length; i++) {
      double x = a[v + i];
      a[c0 + i] = Math.fma(s0, x, a[c0 + i]);
      a[c1 + i] = Math.fma(s1, x, a[c1 + i]);
      a[c2 + i] = Math.fma(s2, x, a[c2 + i]);
      a[c3 + i] = Math.fma(s3, x, a[c3 + i]);
    }
  }

  private static void apply2(double[] a, int v, int c0, int c1, int length, double tau) {
    double s0 = a[c0];
    double s1 = a[c1];
    double u0 = 0;
    double u1 = 0;
    int i = 1;
    for (; i + 1 < length; i += 2) {
      double x = a[v + i];
      double y = a[v + i + 1];
      s0 = Math.fma(x, a[c0 + i], s0);
      s1 = Math.fma(x, a[c1 + i], s1);
      u0 = Math.fma(y, a[c0 + i + 1], u0);
      u1 = Math.fma(y, a[c1 + i + 1], u1);
    }
    if (i < length) {
      double x = a[v + i];
      s0 = Math.fma(x, a[c0 + i], s0);
      s1 = Math.fma(x, a[c1 + i], s1);
    }
    s0 = -tau * (s0 + u0);
    s1 = -tau * (s1 + u1);
    a[c0] += s0;
    a[c1] += s1;
    for (i = 1; i < length; i++) {
      double x = a[v + i];
      a[c0 + i] = Math.fma(s0, x, a[c0 + i]);
      a[c1 + i] = Math.fma(s1, x, a[c1 + i]);
    }
  }

  private static void apply1(double[] a, int v, int c, int length, double tau) {
    double s = a[c];
    double u = 0;
    int i = 1;
    for (; i + 1 < length; i += 2) {
      s = Math.fma(a[v + i], a[c + i], s);
      u = Math.fma(a[v + i + 1], a[c + i + 1], u);
    }
    if (i < length) {
      s = Math.fma(a[v + i], a[c + i], s);
    }
    s = -tau * (s + u);
    a[c] += s;
    for (i = 1; i < length; i++) {
      a[c + i] = Math.fma(s, a[v + i], a[c + i]);
    }
  }

  /** out[from + c] = x'y_c for {@code count} runs y_c, {@code stride} apart, of the same array. */
  static void dots(
      double[] a, int x, int y, int stride, int count, int length, double[] out, int from) {
    if (length <= 2 * BLOCK) {
      shortDots(a, x, y, stride, count, length, out, from);
      return;
    }
    double[] part = new double[count];
    double[] lost = new double[count];
    Arrays.fill(out, from, from + count, 0);
    for (int i = 0; i < length; i += BLOCK) {
      shortDots(a, x + i, y + i, stride, count, Math.min(BLOCK, length - i), part, 0);
      for (int c = 0; c < count; c++) {
        double sum = out[from + c];
        double t = sum + part[c];
        // The rounding error of a sum without a branch (Knuth).
        double z = t - sum;
        lost[c] += (sum - (t - z)) + (part[c] - z);
        out[from + c] = t;
      }
    }
    for (int c = 0; c < count; c++) {
      out[from + c] += lost[c];
    }
  }

  private static void shortDots(
      double[] a, int x, int y, int stride, int count, int length, double[] out, int from) {
    int c = 0;
    for (; c + 3 < count; c += 4) {
      dot4(a, x, y + c * stride, stride, length, out, from + c);
    }
    for (; c < count; c++) {
      out[from + c] = dot1(a, x, y + c * stride, length);
    }
  }

  private static void dot4(double[] a, int x, int y, int stride, int length, double[] out, int at) {
    int y1 = y + stride;
    int y2 = y1 + stride;
    int y3 = y2 + stride;
    double s0 = 0;
    double s1 = 0;
    double s2 = 0;
    double s3 = 0;
    for (int i = 0; i < length; i++) {
      double v = a[x + i];
      s0 = Math.fma(v, a[y + i], s0);
      s1 = Math.fma(v, a[y1 + i], s1);
      s2 = Math.fma(v, a[y2 + i], s2);
      s3 = Math.fma(v, a[y3 + i], s3);
    }
    out[at] = s0;
    out[at + 1] = s1;
    out[at + 2] = s2;
    out[at + 3] = s3;
  }

  private static double dot1(double[] a, int x, int y, int length) {
    double s0 = 0;
    double s1 = 0;
    int i = 0;
    for (; i + 1 < length; i += 2) {
      s0 = Math.fma(a[x + i], a[y + i], s0);
      s1 = Math.fma(a[x + i + 1], a[y + i + 1], s1);
    }
    if (i < length) {
      s0 = Math.fma(a[x + i], a[y + i], s0);
    }
    return s0 + s1;
  }

  /** y := H y for one run y[at .. at + n], v[from .. from + n) without its leading 1. */
  static void reflect1(double[] v, int from, int n, double tau, double[] y, int at) {
    double s0 = y[at];
    double s1 = 0;
    double s2 = 0;
    double s3 = 0;
    int c = at + 1;
    int i = 0;
    for (; i + 3 < n; i += 4) {
      s0 = Math.fma(v[from + i], y[c + i], s0);
      s1 = Math.fma(v[from + i + 1], y[c + i + 1], s1);
      s2 = Math.fma(v[from + i + 2], y[c + i + 2], s2);
      s3 = Math.fma(v[from + i + 3], y[c + i + 3], s3);
    }
    for (; i < n; i++) {
      s0 = Math.fma(v[from + i], y[c + i], s0);
    }
    double s = -tau * ((s0 + s1) + (s2 + s3));
    y[at] += s;
    for (i = 0; i < n; i++) {
      y[c + i] = Math.fma(s, v[from + i], y[c + i]);
    }
  }

  /** As above, for four runs, {@code ld} apart. */
  static void reflect4(double[] v, int from, int n, double tau, double[] y, int at, int ld) {
    int at1 = at + ld;
    int at2 = at1 + ld;
    int at3 = at2 + ld;
    double s0 = y[at];
    double s1 = y[at1];
    double s2 = y[at2];
    double s3 = y[at3];
    for (int i = 0; i < n; i++) {
      double x = v[from + i];
      s0 = Math.fma(x, y[at + 1 + i], s0);
      s1 = Math.fma(x, y[at1 + 1 + i], s1);
      s2 = Math.fma(x, y[at2 + 1 + i], s2);
      s3 = Math.fma(x, y[at3 + 1 + i], s3);
    }
    s0 *= -tau;
    s1 *= -tau;
    s2 *= -tau;
    s3 *= -tau;
    y[at] += s0;
    y[at1] += s1;
    y[at2] += s2;
    y[at3] += s3;
    for (int i = 0; i < n; i++) {
      double x = v[from + i];
      y[at + 1 + i] = Math.fma(s0, x, y[at + 1 + i]);
      y[at1 + 1 + i] = Math.fma(s1, x, y[at1 + 1 + i]);
      y[at2 + 1 + i] = Math.fma(s2, x, y[at2 + 1 + i]);
      y[at3 + 1 + i] = Math.fma(s3, x, y[at3 + 1 + i]);
    }
  }
}
