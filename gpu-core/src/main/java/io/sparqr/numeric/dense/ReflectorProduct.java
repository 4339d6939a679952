/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.dense;

import io.sparqr.threads.Crew;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Q or Q' of kept reflectors times several vectors. For few vectors reflectors are applied one at a
 * time, which moves V once; from {@link #BLOCKED} on as I - V T V' by matrix products, with T made
 * again from V (Schreiber and Van Loan 1989). Which way is taken depends on sizes alone, so that
 * the same vectors give the same bits.
 */
public final class ReflectorProduct {

  /** Vectors from which on T pays: its flops are those of {@link CompactWy#GROUP} / 2 vectors. */
  public static final int BLOCKED = 16;

  /** Fewer reflectors than this are applied one at a time. */
  private static final int FEW = 8;

  /** V may have so many times its values; the rest are zeros that cost flops. */
  private static final int FILL = 3;

  private ReflectorProduct() {}

  /**
   * y := Q'y or Q y for the reflectors of a block. Flops: 4 values width, for T 2 values GROUP
   * more.
   *
   * @param y column-major, the front's rows by {@code width} columns
   * @param ld leading dimension of y
   * @param work as for {@link ReflectorBlock#apply}
   * @return work
   */
  public static double[] apply(
      boolean transposed, ReflectorBlock block, double[] y, int ld, int width, double[] work) {
    if (width >= BLOCKED && block.count() >= FEW) {
      CompactWy.Groups groups = CompactWy.Groups.of(block);
      long all = groups.entries(block.count());
      long values = (long) block.v().length + block.count();
      if (all <= FILL * values && all < Integer.MAX_VALUE / 2) {
        new CompactWy(BlasLoader.kernels(), block, groups, Crew.ALONE)
            .apply(transposed, y, ld, width, Crew.ALONE);
        return work;
      }
    }
    return transposed ? block.applyTransposed(y, ld, width, work) : block.apply(y, ld, width, work);
  }

  /**
   * Joins consecutive blocks on the same rows, as far as a single T goes: what was cut into pieces
   * to be stored. Blocks of other rows, and those that are larger, stay as they are.
   */
  public static List<ReflectorBlock> grouped(List<ReflectorBlock> blocks) {
    var grouped = new ArrayList<ReflectorBlock>();
    int from = 0;
    while (from < blocks.size()) {
      int to = from + 1;
      int count = blocks.get(from).count();
      while (to < blocks.size()
          && count + blocks.get(to).count() <= CompactWy.GROUP
          && Arrays.equals(blocks.get(to).segments(), blocks.get(from).segments())) {
        count += blocks.get(to++).count();
      }
      grouped.add(to == from + 1 ? blocks.get(from) : joined(blocks.subList(from, to), count));
      from = to;
    }
    return grouped;
  }

  private static ReflectorBlock joined(List<ReflectorBlock> blocks, int count) {
    int[] first = new int[count];
    int[] length = new int[count];
    double[] tau = new double[count];
    double[] v = new double[blocks.stream().mapToInt(b -> b.v().length).sum()];
    int at = 0;
    int value = 0;
    for (ReflectorBlock b : blocks) {
      System.arraycopy(b.first(), 0, first, at, b.count());
      System.arraycopy(b.length(), 0, length, at, b.count());
      System.arraycopy(b.tau(), 0, tau, at, b.count());
      System.arraycopy(b.v(), 0, v, value, b.v().length);
      at += b.count();
      value += b.v().length;
    }
    return new ReflectorBlock(blocks.get(0).segments(), first, length, tau, v);
  }
}
