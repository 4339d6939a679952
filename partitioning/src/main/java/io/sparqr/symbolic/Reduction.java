/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import java.io.Serializable;

/**
 * When the contribution blocks of a front's children are reduced in a tree before they meet there
 * ({@link ReductionFronts}): when they have more than {@code tall} rows for each column of the
 * front, and either their packed bytes are {@code blocks} times those of the triangle that they
 * become, and at least {@code leastBytes}, or the front would have more than {@code mostEntries}
 * entries.
 *
 * @param tall rows a column; groups have half as many, so that at most 1 / (tall / 2) more flops
 *     are spent
 * @param blocks packed bytes of all blocks over those of the triangle
 * @param leastBytes under which blocks may wait
 * @param mostEntries of a front that is assembled whole
 */
public record Reduction(long tall, long blocks, long leastBytes, long mostEntries)
    implements Serializable {

  /** Checks the ranges: a group has to become less than it was. */
  public Reduction {
    if (tall < 4 || blocks < 1 || leastBytes < 0 || mostEntries < 1) {
      throw new IllegalArgumentException("reduction of contribution blocks out of range");
    }
  }

  /** 32 rows a column; blocks of 16 triangles and 64 MB; fronts of 2^30 entries. */
  public static Reduction defaults() {
    return new Reduction(32, 16, 64L << 20, 1L << 30);
  }

  /** Never. */
  public static Reduction none() {
    return new Reduction(Long.MAX_VALUE, 1, 0, Long.MAX_VALUE);
  }

  /** Rows of a group for a front of so many columns, at least. */
  long group(long fn) {
    return FrontMemory.multiply(tall / 2, Math.max(1, fn));
  }

  /**
   * Whether a front's blocks are reduced first.
   *
   * @param rows of its children's blocks
   * @param fm all its rows
   * @param blockBytes packed bytes of the blocks
   */
  boolean applies(long rows, long fm, long fn, long blockBytes) {
    if (rows <= FrontMemory.multiply(tall, Math.max(1, fn))) {
      return false;
    }
    long triangle = FrontMemory.contributionBytes(fn, fn, 0);
    boolean heavy =
        blockBytes >= leastBytes && blockBytes >= FrontMemory.multiply(blocks, triangle);
    return heavy || FrontMemory.multiply(fm, fn) > mostEntries;
  }
}
