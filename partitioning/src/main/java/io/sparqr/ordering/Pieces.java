/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering;

/** How a range is cut into pieces to work on side by side: by its size, never by the threads. */
final class Pieces {
  /** Work of a piece, in vertices and adjacency entries. */
  private static final int WORK = 1 << 16;

  private Pieces() {}

  /** Pieces that so much work on n vertices is worth; 1 at least. */
  static int of(int n, long work) {
    return (int) Math.max(1, Math.min(n, work / WORK));
  }

  /** First element of a piece; of the one after the last, n. */
  static int first(int piece, int pieces, int n) {
    return (int) ((long) n * piece / pieces);
  }
}
