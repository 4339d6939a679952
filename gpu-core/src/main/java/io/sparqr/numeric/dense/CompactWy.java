/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.dense;

import io.sparqr.threads.Crew;
import java.util.Arrays;

/**
 * The reflectors of a block, a few at a time as I - V T V' (Schreiber and Van Loan 1989), so that
 * they are applied to many columns by matrix products. V is unpacked, group by group in the rows
 * that the group touches, and T made again from V: memory is that of {@link Groups#entries}, the
 * flops for T are {@link #GROUP} for each of them.
 */
final class CompactWy {

  /** Reflectors of one T. */
  static final int GROUP = 32;

  /** Columns of C that one thread takes at a time. */
  private static final int STRIP = 64;

  private final DenseKernels kernels;
  private final ReflectorBlock block;
  private final int rows;

  /** The groups one after the other, each column-major, ones and zeros written out. */
  private final double[] v;

  /** For each group T, column-major with leading dimension GROUP, upper triangular. */
  private final double[][] t;

  private final Groups groups;

  /** By group: its first value in V. */
  private final int[] at;

  /**
   * The groups of a block, and the rows that each touches.
   *
   * @param from by group: the first row
   * @param to by group: after the last row
   */
  record Groups(int[] from, int[] to) {

    /** O(reflectors). */
    static Groups of(ReflectorBlock block) {
      int count = block.count();
      int[] from = new int[(count + GROUP - 1) / GROUP];
      int[] to = new int[from.length];
      Arrays.fill(from, Integer.MAX_VALUE);
      for (int j = 0; j < count; j++) {
        int first = block.first()[j];
        from[j / GROUP] = Math.min(from[j / GROUP], first);
        to[j / GROUP] = Math.max(to[j / GROUP], first + block.length()[j]);
      }
      return new Groups(from, to);
    }

    int count() {
      return from.length;
    }

    int height(int group) {
      return to[group] - from[group];
    }

    /** Values of V with the zeros that are written out, for so many reflectors. */
    long entries(int reflectors) {
      long entries = 0;
      for (int k = 0; k < count(); k++) {
        entries += (long) Math.min(GROUP, reflectors - k * GROUP) * height(k);
      }
      return entries;
    }
  }

  /** Unpacks a block and makes each T. */
  CompactWy(DenseKernels kernels, ReflectorBlock block, Crew crew) {
    this(kernels, block, Groups.of(block), crew);
  }

  /** The same with its groups. */
  CompactWy(DenseKernels kernels, ReflectorBlock block, Groups groups, Crew crew) {
    this.kernels = kernels;
    this.block = block;
    this.groups = groups;
    rows = block.rows();
    t = new double[groups.count()][];
    at = new int[groups.count()];
    v = new double[Math.toIntExact(groups.entries(block.count()))];
    int next = 0;
    int value = 0;
    for (int k = 0; k < groups.count(); k++) {
      at[k] = next;
      for (int j = k * GROUP; j < k * GROUP + width(k); j++) {
        int top = next + block.first()[j] - groups.from[k];
        int below = block.length()[j] - 1;
        v[top] = 1;
        System.arraycopy(block.v(), value, v, top + 1, below);
        value += below;
        next += groups.height(k);
      }
    }
    crew.run(groups.count(), this::make);
  }

  private int width(int group) {
    return Math.min(GROUP, block.count() - group * GROUP);
  }

  /** T of a group: column j is -tau_j T (V' v_j), and tau_j on the diagonal. */
  private void make(int group) {
    int g = width(group);
    int first = group * GROUP;
    int height = groups.height(group);
    double[] gram = new double[g * GROUP];
    kernels.gemm(
        true, g, g, height, 1, v, at[group], height, v, at[group], height, 0, gram, 0, GROUP);
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
    return segments.length == 2 ? segments[0] + groups.from[group] : block.least();
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
    int count = groups.count();
    for (int k = 0; k < count; k++) {
      int group = transposed ? k : count - 1 - k;
      if (triangle && least(group) >= column + width) {
        continue;
      }
      int g = width(group);
      int first = at[group];
      int low = groups.from[group];
      int height = groups.height(group);
      kernels.gemm(true, g, width, height, 1, v, first, height, z, low, rows, 0, w, 0, GROUP);
      kernels.gemm(transposed, g, width, g, 1, t[group], 0, GROUP, w, 0, GROUP, 0, tw, 0, GROUP);
      kernels.gemm(false, height, width, g, -1, v, first, height, tw, 0, GROUP, 1, z, low, rows);
    }
    block.copyRuns(c, column * ld, ld, z, rows, width, false);
  }
}
