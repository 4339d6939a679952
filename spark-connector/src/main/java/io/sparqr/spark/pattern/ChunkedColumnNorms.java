/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.pattern;

/**
 * Column 2-norms of a partition without overflow or harmful underflow: squares of values beyond
 * 1e140 or below 1e-140 are squared after a scaling by 2^-520 or 2^600 (the idea of Blue 1978, ACM
 * TOMS 4, doi:10.1145/355769.355771).
 */
final class ChunkedColumnNorms {

  private static final double BIG = 1e140;
  private static final double SMALL = 1e-140;
  private static final int DOWN = 520;

  /** The square of the least number, 2^-1074, is still a normal one then. */
  private static final int UP = 600;

  private final ColumnChunks middle = new ColumnChunks();
  private final ColumnChunks big = new ColumnChunks();
  private final ColumnChunks small = new ColumnChunks();

  /** Adds a nonzero entry of column j. */
  void add(int j, double v) {
    double a = Math.abs(v);
    if (a > BIG) {
      double s = Math.scalb(a, -DOWN);
      big.add(j, s * s);
    } else if (a < SMALL) {
      double s = Math.scalb(a, UP);
      small.add(j, s * s);
    } else {
      middle.add(j, v * v);
    }
  }

  /** The norm of a column from those of two partitions; most are 0 in one of many. */
  static double joined(double a, double b) {
    return b == 0 ? a : a == 0 ? b : Math.hypot(a, b);
  }

  /** The norms. */
  ColumnChunks norms() {
    var out = new ColumnChunks();
    for (int c = 0; c < Math.max(middle.chunks(), Math.max(big.chunks(), small.chunks())); c++) {
      double[] m = middle.peek(c);
      double[] b = big.peek(c);
      double[] s = small.peek(c);
      if (m == null && b == null && s == null) {
        continue;
      }
      double[] norm = out.open(c);
      for (int k = 0; k < norm.length; k++) {
        double n = m == null ? 0 : Math.sqrt(m[k]);
        if (b != null && b[k] > 0) {
          n = Math.hypot(n, Math.scalb(Math.sqrt(b[k]), DOWN));
        }
        if (s != null && s[k] > 0) {
          n = Math.hypot(n, Math.scalb(Math.sqrt(s[k]), -UP));
        }
        norm[k] = n;
      }
    }
    return out;
  }
}
