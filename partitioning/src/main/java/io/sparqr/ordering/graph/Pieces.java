/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering.graph;

/**
 * The division of a range into pieces for parallel work: by its size, never by the number of
 * threads.
 */
public final class Pieces {
  /** Work per piece, in vertices and adjacency entries. */
  private static final int WORK = 1 << 16;

  private Pieces() {}

  /** The number of pieces for this much work on n vertices; at least 1. */
  public static int of(int n, long work) {
    return (int) Math.max(1, Math.min(n, work / WORK));
  }

  /** First element of a piece; n for the piece after the last. */
  public static int first(int piece, int pieces, int n) {
    return (int) ((long) n * piece / pieces);
  }
}
