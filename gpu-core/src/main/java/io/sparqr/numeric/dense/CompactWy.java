/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.dense;

import io.sparqr.threads.Crew;

/**
 * The reflectors of a block, a few at a time as I - V T V' (Schreiber and Van Loan 1989), so that
 * they are applied to many columns by matrix products. V is unpacked, T made again from V: memory
 * is that of V as a dense matrix, the flops for T are {@link #GROUP} for each of its entries.
 */
final class CompactWy {

  /** Reflectors of one T. */
  static final int GROUP = 32;

  /** Columns of C that one thread takes at a time. */
  private static final int STRIP = 64;

  private final DenseKernels kernels;
  private final ReflectorBlock block;
  private final int rows;

  /**
   * rows x count, column-major, ones and zeros written out; a column longer, since BLAS is asked
   * for whole columns from any row on.
   */
  private final double[] v;

  /** For each group T, column-major with leading dimension GROUP, upper triangular. */
  private final double[][] t;

  /** For each group the rows that it touches: from its first reflector's on. */
  private final int[] from;

  private final int[] to;

  /** Unpacks the block and makes each T. */
  CompactWy(DenseKernels kernels, ReflectorBlock block, Crew crew) {
    this.kernels = kernels;
    this.block = block;
    rows = block.rows();
    int count = block.count();
    v = new double[Math.toIntExact((long) rows * (count + 1))];
    int at = 0;
    for (int j = 0; j < count; j++) {
      int top = j * rows + block.first()[j];
      int below = block.length()[j] - 1;
      v[top] = 1;
      System.arraycopy(block.v(), at, v, top + 1, below);
      at += below;
    }
    int groups = (count + GROUP - 1) / GROUP;
    t = new double[groups][];
    from = new int[groups];
    to = new int[groups];
    crew.run(groups, this::make);
  }

  private int width(int group) {
    return Math.min(GROUP, block.count() - group * GROUP);
  }

  /** T of a group: column j is -tau_j T (V' v_j), and tau_j on the diagonal. */
  private void make(int group) {
    int g = width(group);
    int first = group * GROUP;
    int low = rows;
    int high = 0;
    for (int j = first; j < first + g; j++) {
      low = Math.min(low, block.first()[j]);
      high = Math.max(high, block.first()[j] + block.length()[j]);
    }
    from[group] = low;
    to[group] = high;
    double[] gram = new double[g * GROUP];
    int at = first * rows + low;
    kernels.gemm(true, g, g, high - low, 1, v, at, rows, v, at, rows, 0, gram, 0, GROUP);
    double[] made = new double[g * GROUP];
    for (int j = 0; j < g; j++) {
      double tau = block.tau()[first + j];
      for (int i = 0; i < j; i++) {
        double sum = 0;
        for (int k = i; k < j; k++) {
          sum = Math.fma(made[i + k * GROUP], gram[k + j * GROUP], sum);
        }
        made[i + j * GROUP] = -tau * sum;
      }
      made[j + j * GROUP] = tau;
    }
    t[group] = made;
  }

  /**
   * C := Q C, or Q'C.
   *
   * @param c column-major, by the row numbers of the block's segments
   * @param ld leading dimension of C
   * @param width columns of C
   */
  void apply(boolean transposed, double[] c, int ld, int width, Crew crew) {
    strips(width, crew, (column, some) -> strip(transposed, false, c, ld, column, some));
  }

  /**
   * C := Q C where column j of C is zero in the rows that a reflector touches, unless j is at least
   * the first of these rows: so it is if C began as the identity, and reflector after reflector is
   * applied from the last to the first.
   */
  void applyToTriangle(double[] c, int ld, int width, Crew crew) {
    strips(width, crew, (column, some) -> strip(false, true, c, ld, column, some));
  }

  private interface Strip {
    void run(int column, int width);
  }

  private static void strips(int width, Crew crew, Strip action) {
    crew.run(
        (width + STRIP - 1) / STRIP,
        s -> action.run(s * STRIP, Math.min(STRIP, width - s * STRIP)));
  }

  /** The first row that a group's reflectors touch. */
  private int least(int group) {
    int[] segments = block.segments();
    return segments.length == 2 ? segments[0] + from[group] : block.least();
  }

  private void strip(
      boolean transposed, boolean triangle, double[] c, int ld, int column, int width) {
    if (triangle && block.least() >= column + width) {
      return;
    }
    double[] z = new double[rows * (width + 1)];
    block.copyRuns(c, column * ld, ld, z, rows, width, true);
    double[] w = new double[GROUP * width];
    double[] tw = new double[GROUP * width];
    int groups = t.length;
    for (int k = 0; k < groups; k++) {
      int group = transposed ? k : groups - 1 - k;
      if (triangle && least(group) >= column + width) {
        continue;
      }
      int g = width(group);
      int at = group * GROUP * rows + from[group];
      int low = from[group];
      int high = to[group] - low;
      kernels.gemm(true, g, width, high, 1, v, at, rows, z, low, rows, 0, w, 0, GROUP);
      kernels.gemm(transposed, g, width, g, 1, t[group], 0, GROUP, w, 0, GROUP, 0, tw, 0, GROUP);
      kernels.gemm(false, high, width, g, -1, v, at, rows, tw, 0, GROUP, 1, z, low, rows);
    }
    block.copyRuns(c, column * ld, ld, z, rows, width, false);
  }
}
