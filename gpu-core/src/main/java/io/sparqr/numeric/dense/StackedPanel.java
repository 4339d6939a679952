/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.dense;

/**
 * One panel of a {@link StackedQr}: reflectors (e_k, v_k), with v_k stored in column k of the rows,
 * in compact WY form I - V T V'. The identity part is free: V'C is the triangle's rows plus the
 * product of the stacked rows. Factored recursively (Elmroth and Gustavson 2000), as {@link Panel}
 * is, and with a native BLAS down to fewer columns: it forms all dot products of a reflector in one
 * pass, and narrow products are three times as fast there as single reflectors are in Java.
 */
final class StackedPanel {

  /** Columns by single reflectors if the BLAS is native. */
  private static final int NATIVE_BASE = 4;

  /**
   * Columns of more rows are summed by {@link Reflectors}, with compensation: errors of a product
   * grow with its length.
   */
  private static final int NATIVE_ROWS = 4096;

  private final DenseKernels kernels;
  private final int base;

  /** The first column of the panel. */
  int from;

  /** Number of columns of the panel. */
  int width;

  /** Largest number of rows of a column of the panel. */
  int rows;

  /** width x width upper triangular, explicit zeros below. */
  double[] t = new double[0];

  /** Size width; reflector j is I - tau[j] v v'. */
  double[] tau = new double[0];

  private int[] heights = new int[0];
  private double[] w = new double[0];
  private double[] w2 = new double[0];
  private final double[] sums = new double[2 * Panel.BASE];
  private final double[] scale = new double[2 * Panel.BASE];

  @SuppressWarnings("NullAway.Init") // set by factor
  private StackedQr qr;

  StackedPanel(DenseKernels kernels) {
    this.kernels = kernels;
    base = kernels.isNative() ? NATIVE_BASE : Panel.BASE;
  }

  /** Factors columns [k1, k2). */
  void factor(StackedQr owner, int k1, int k2) {
    qr = owner;
    from = k1;
    width = k2 - k1;
    rows = owner.stair[k2 - 1];
    t = Panel.grown(t, (long) width * (width + 1));
    w = Panel.grown(w, (long) width * (width + 1));
    w2 = Panel.grown(w2, (long) width * (width + 1));
    tau = Panel.grown(tau, width);
    heights = java.util.Arrays.copyOfRange(owner.stair, k1, k2);
    java.util.Arrays.fill(t, 0, width * width, 0);
    halves(k1, k2);
  }

  /** Rows of reflector j. */
  int height(int j) {
    return heights[j];
  }

  private void halves(int k1, int k2) {
    if (k2 - k1 <= base) {
      if (kernels.isNative() && qr.stair[k2 - 1] <= NATIVE_ROWS) {
        nativeBase(k1, k2);
      } else {
        base(k1, k2);
      }
      return;
    }
    int half = (k2 - k1 + 1) / 2;
    int middle = k1 + (half + base - 1) / base * base;
    halves(k1, middle);
    apply(k1 - from, middle - k1, qr.stair[middle - 1], middle, k2, w, w2);
    halves(middle, k2);
    couple(k1 - from, middle - k1, k2 - middle, qr.stair[middle - 1]);
  }

  private void base(int k1, int k2) {
    double[] b = qr.b;
    for (int k = k1; k < k2; k++) {
      int at = k * qr.ldb;
      int height = qr.stair[k];
      double norm = Reflectors.norm(b, at, height);
      double tk = Reflectors.makeApart(qr.r, k + k * qr.ldr, b, at, height, norm);
      int c = k - from;
      tau[c] = tk;
      if (tk == 0) {
        continue;
      }
      int later = k2 - k - 1;
      Reflectors.dots(b, at, at + qr.ldb, qr.ldb, later, height, sums, 0);
      for (int j = 0; j < later; j++) {
        int top = k + (k + 1 + j) * qr.ldr;
        double s = -tk * (qr.r[top] + sums[j]);
        qr.r[top] += s;
        Reflectors.add(b, at, at + (j + 1) * qr.ldb, 0, height, s);
      }
      int first = k1 - from;
      Reflectors.dots(b, at, k1 * qr.ldb, qr.ldb, k - k1, height, w, first);
      Panel.columnOfT(t, width, first, c, tk, w);
    }
  }

  /**
   * As {@link #base}, with v'v_i of the earlier reflectors and v'a_j of the later columns by one
   * product: all are columns of the same array, and earlier reflectors are zero in rows that only
   * later ones have.
   */
  private void nativeBase(int k1, int k2) {
    double[] b = qr.b;
    int ldb = qr.ldb;
    int first = k1 - from;
    for (int k = k1; k < k2; k++) {
      int at = k * ldb;
      int height = qr.stair[k];
      double norm = norm(b, at, height);
      double tk = Reflectors.makeApart(qr.r, k + k * qr.ldr, b, at, height, norm);
      int c = k - from;
      tau[c] = tk;
      if (tk == 0) {
        continue;
      }
      kernels.gemm(true, k2 - k1, 1, height, 1, b, k1 * ldb, ldb, b, at, ldb, 0, sums, 0, k2 - k1);
      int later = k2 - k - 1;
      for (int j = 0; j < later; j++) {
        int top = k + (k + 1 + j) * qr.ldr;
        double s = -tk * (qr.r[top] + sums[k + 1 - k1 + j]);
        qr.r[top] += s;
        scale[j] = s;
      }
      if (later > 0) {
        kernels.gemm(false, height, later, 1, 1, b, at, ldb, scale, 0, 1, 1, b, at + ldb, ldb);
      }
      System.arraycopy(sums, 0, w, first, k - k1);
      Panel.columnOfT(t, width, first, c, tk, w);
    }
  }

  /** 2-norm of b[at .. at + height), by a product where its square is in range. */
  private double norm(double[] b, int at, int height) {
    if (height == 0) {
      return 0;
    }
    kernels.gemm(true, 1, 1, height, 1, b, at, height, b, at, height, 0, sums, 0, 1);
    return Reflectors.isSafeSquare(sums[0]) ? Math.sqrt(sums[0]) : Reflectors.norm(b, at, height);
  }

  /**
   * Applies the panel's reflectors first .. first + count - 1, of {@code height} rows, to columns
   * [c1, c2) of the triangle and the rows.
   */
  private void apply(int first, int count, int height, int c1, int c2, double[] x, double[] y) {
    int n = c2 - c1;
    int k = from + first;
    int v = k * qr.ldb;
    int c = c1 * qr.ldb;
    kernels.gemm(true, count, n, height, 1, qr.b, v, qr.ldb, qr.b, c, qr.ldb, 0, x, 0, count);
    for (int j = 0; j < n; j++) {
      int top = k + (c1 + j) * qr.ldr;
      for (int i = 0; i < count; i++) {
        x[i + j * count] += qr.r[top + i];
      }
    }
    int tAt = first + first * width;
    kernels.gemm(true, count, n, count, 1, t, tAt, width, x, 0, count, 0, y, 0, count);
    for (int j = 0; j < n; j++) {
      int top = k + (c1 + j) * qr.ldr;
      for (int i = 0; i < count; i++) {
        qr.r[top + i] -= y[i + j * count];
      }
    }
    kernels.gemm(false, height, n, count, -1, qr.b, v, qr.ldb, y, 0, count, 1, qr.b, c, qr.ldb);
  }

  /** Applies the panel to columns [c1, c2) with scratch for 2 width (c2 - c1) values, x and y. */
  void update(int c1, int c2, double[] x, double[] y) {
    if (rows > 0 && c2 > c1) {
      apply(0, width, rows, c1, c2, x, y);
    }
  }

  /** T12 = -T1 (V1' V2) T2; V1 has {@code height} rows. */
  private void couple(int first, int left, int right, int height) {
    int second = first + left;
    int v1 = (from + first) * qr.ldb;
    int v2 = (from + second) * qr.ldb;
    kernels.gemm(true, left, right, height, 1, qr.b, v1, qr.ldb, qr.b, v2, qr.ldb, 0, w, 0, left);
    int t1 = first + first * width;
    int t2 = second + second * width;
    kernels.gemm(false, left, right, left, -1, t, t1, width, w, 0, left, 0, w2, 0, left);
    kernels.gemm(false, left, right, right, 1, w2, 0, left, t, t2, width, 0, w, 0, left);
    for (int j = 0; j < right; j++) {
      System.arraycopy(w, j * left, t, first + (second + j) * width, left);
    }
  }
}
