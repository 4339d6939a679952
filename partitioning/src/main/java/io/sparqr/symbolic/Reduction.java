/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import java.io.Serializable;

/**
 * The rule for reducing the contribution blocks of a front's children in a tree before the front is
 * assembled ({@link ReductionFronts}): they have more than {@code tall} rows per column of the
 * front, and either their packed bytes are at least {@code blocks} times those of the resulting
 * triangle and at least {@code leastBytes}, or the front would have more than {@code mostEntries}
 * entries.
 *
 * @param tall rows per column; groups have half as many, so that at most 1 / (tall / 2) more flops
 *     are spent
 * @param blocks packed bytes of all blocks over those of the triangle
 * @param leastBytes smaller blocks may wait unreduced
 * @param mostEntries limit for a front assembled whole
 */
public record Reduction(long tall, long blocks, long leastBytes, long mostEntries)
    implements Serializable {

  /** Checks the ranges: a reduction must shrink its group. */
  public Reduction {
    if (tall < 4 || blocks < 1 || leastBytes < 0 || mostEntries < 1) {
      throw new IllegalArgumentException("reduction of contribution blocks out of range");
    }
  }

  /** 32 rows per column; blocks of 16 triangles and 64 MB; fronts of 2^30 entries. */
  public static Reduction defaults() {
    return new Reduction(32, 16, 64L << 20, 1L << 30);
  }

  /**
   * A copy without the limit of a front's entries: for CPUs that may take its Gram matrix, which
   * needs no room for its rows, where triangles of groups would cost as much as reflectors.
   */
  Reduction withoutEntryLimit() {
    return new Reduction(tall, blocks, leastBytes, Long.MAX_VALUE);
  }

  /** Rules by which no group of blocks is ever reduced. */
  public static Reduction none() {
    return new Reduction(Long.MAX_VALUE, 1, 0, Long.MAX_VALUE);
  }

  /** Minimum rows of a group for a front of this many columns. */
  long group(long fn) {
    return FrontMemory.multiply(tall / 2, Math.max(1, fn));
  }

  /**
   * Whether a front's blocks are reduced first.
   *
   * @param rows rows of its children's blocks
   * @param fm all rows of the front
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
