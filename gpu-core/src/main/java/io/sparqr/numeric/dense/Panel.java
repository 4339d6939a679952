/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.dense;

/**
 * One panel of a staircase QR in compact WY form, A := (I - V T V')' A = A - V (V T)' A (Schreiber
 * and Van Loan 1989), factored recursively (Elmroth and Gustavson 2000): halves down to {@value
 * #BASE} columns by single reflectors, everything above by gemm. Rank detection (Heath 1982)
 * happens in the base case, which computes each column's remaining norm anyway; a dead column has
 * no column in V, so nothing is undone.
 */
final class Panel {

  /** Panels of up to this many columns are factored by single reflectors. */
  static final int BASE = 8;

  private final DenseKernels kernels;

  /** First row of the panel in the front. */
  int row;

  /** Number of rows of V. */
  int rows;

  /** Leading dimension of V and Y. */
  int ldv;

  /** Reflectors: columns of V. */
  int count;

  /** rows x count, unit lower trapezoidal with explicit zeros and ones. */
  double[] v = new double[0];

  /** V T, if {@link #withY}. */
  double[] y = new double[0];

  /** count x count upper triangular, leading dimension {@code width}, explicit zeros below. */
  double[] t = new double[0];

  private double[] w = new double[0];
  private double[] w2 = new double[0];

  /** Leading dimension of T. */
  int width;

  /** Whether the update goes through Y. */
  boolean withY;

  @SuppressWarnings("NullAway.Init") // set by factor
  private StaircaseQr qr;

  Panel(DenseKernels kernels) {
    this.kernels = kernels;
  }

  /** Factors columns [k1, k2) from row g on; returns the next free row. */
  int factor(StaircaseQr owner, int k1, int k2, int g) {
    qr = owner;
    row = g;
    rows = Math.max(owner.stair[k2 - 1] - g, 0);
    count = 0;
    if (rows == 0) {
      return g;
    }
    width = k2 - k1;
    // Leading dimensions that are multiples of 4096 bytes thrash the cache.
    ldv = rows % 512 == 0 ? rows + 8 : rows;
    // One spare column: netlib requires offset + lda n entries, including the last column's
    // padding.
    v = grown(v, (long) ldv * (width + 1));
    t = grown(t, (long) width * (width + 1));
    w = grown(w, (long) width * width);
    w2 = grown(w2, (long) width * width);
    java.util.Arrays.fill(t, 0, width * width, 0);
    return halves(k1, k2, g);
  }

  /**
   * Prepares the update of {@code columns} columns: Y = V T if that is less work than applying T to
   * each V'C.
   */
  void complete(int columns) {
    withY = columns > rows;
    if (count == 0 || !withY) {
      return;
    }
    y = grown(y, (long) ldv * (width + 1));
    kernels.gemm(false, rows, count, count, 1, v, 0, ldv, t, 0, width, 0, y, 0, ldv);
    qr.flops += 2.0 * rows * count * count;
  }

  private int halves(int k1, int k2, int g) {
    if (k2 - k1 <= BASE) {
      return base(k1, k2, g);
    }
    int half = (k2 - k1 + 1) / 2;
    int middle = k1 + (half + BASE - 1) / BASE * BASE;
    int end = qr.stair[middle - 1];
    int first = count;
    int g1 = halves(k1, middle, g);
    int left = count - first;
    if (left > 0) {
      applyInside(first, left, g, end - g, middle, k2);
    }
    int g2 = halves(middle, k2, g1);
    int right = count - first - left;
    if (left > 0 && right > 0 && end > g1) {
      couple(first, left, right, g1, end - g1);
    }
    return g2;
  }

  /**
   * Factors columns [k1, k2) by single reflectors, copies their V out and computes their diagonal
   * block of T.
   */
  private int base(int k1, int k2, int g) {
    int first = count;
    double[] a = qr.a;
    int lda = qr.lda;
    for (int k = k1; k < k2; k++) {
      int length = qr.stair[k] - g;
      if (length <= 0) {
        continue;
      }
      int at = g + k * lda;
      double norm = Reflectors.norm(a, at, length);
      if (qr.isDead(k, norm)) {
        continue;
      }
      double tau = Reflectors.make(a, at, length, norm);
      if (tau != 0) {
        Reflectors.apply(a, lda, g, length, k, tau, k + 1, k2);
      }
      keep(first, at, g, length, tau);
      qr.tau[g] = tau;
      qr.rowPivot[g++] = k;
      qr.flops += 4.0 * length * (k2 - k1);
    }
    return g;
  }

  /** Appends a reflector to V and its column to T, against reflectors first .. count - 1. */
  private void keep(int first, int at, int g, int length, double tau) {
    int r = count++;
    int top = r * ldv;
    int one = top + g - row;
    java.util.Arrays.fill(v, top, one, 0);
    v[one] = 1;
    System.arraycopy(qr.a, at + 1, v, one + 1, length - 1);
    java.util.Arrays.fill(v, one + length, top + rows, 0);
    Reflectors.dots(v, one, first * ldv + g - row, ldv, r - first, length, w, first);
    columnOfT(t, width, first, r, tau, w);
  }

  /**
   * Column r of T (Schreiber and Van Loan 1989): tau on the diagonal, above it, from row {@code
   * first} on, -tau T w for w = V'v.
   */
  static void columnOfT(double[] t, int width, int first, int r, double tau, double[] w) {
    for (int i = first; i < r; i++) {
      double sum = 0;
      for (int l = i; l < r; l++) {
        sum += t[i + l * width] * w[l];
      }
      t[i + r * width] = -tau * sum;
    }
    t[r + r * width] = tau;
  }

  /** Applies reflectors first .. first + left to columns [from, to) of the panel itself. */
  private void applyInside(int first, int left, int g, int length, int from, int to) {
    int n = to - from;
    int vAt = g - row + first * ldv;
    int cAt = g + from * qr.lda;
    kernels.gemm(true, left, n, length, 1, v, vAt, ldv, qr.a, cAt, qr.lda, 0, w, 0, left);
    int tAt = first + first * width;
    kernels.gemm(true, left, n, left, 1, t, tAt, width, w, 0, left, 0, w2, 0, left);
    kernels.gemm(false, length, n, left, -1, v, vAt, ldv, w2, 0, left, 1, qr.a, cAt, qr.lda);
    qr.flops += 4.0 * length * n * left;
  }

  /** T12 = -T1 (V1' V2) T2; V1 and V2 overlap in {@code length} rows from row g. */
  private void couple(int first, int left, int right, int g, int length) {
    int second = first + left;
    int v1 = g - row + first * ldv;
    int v2 = g - row + second * ldv;
    kernels.gemm(true, left, right, length, 1, v, v1, ldv, v, v2, ldv, 0, w, 0, left);
    int t1 = first + first * width;
    int t2 = second + second * width;
    int t12 = first + second * width;
    kernels.gemm(false, left, right, left, -1, t, t1, width, w, 0, left, 0, w2, 0, left);
    kernels.gemm(false, left, right, right, 1, w2, 0, left, t, t2, width, 0, w, 0, left);
    for (int j = 0; j < right; j++) {
      System.arraycopy(w, j * left, t, t12 + j * width, left);
    }
    qr.flops += 2.0 * length * left * right;
  }

  static double[] grown(double[] old, long length) {
    return old.length >= length
        ? old
        : new double[Math.toIntExact(Math.min(length + length / 4, Integer.MAX_VALUE - 8))];
  }
}
