/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged.solve;

import java.nio.ByteBuffer;

/**
 * The items of one solve in the order in which they may begin, and the counts by which they wait
 * for each other.
 *
 * @param items little-endian
 * @param counts number of counts that they wait for
 */
public record ItemList(ByteBuffer items, int counts) {

  /** Words of progress before the counts, a cache line: tickets, error, bits. */
  private static final int HEAD_WORDS = 16;

  /** Of a solve that is not wanted. */
  static ItemList empty() {
    return new ItemList(ByteBuffer.allocateDirect(0), 0);
  }

  /** Number of items. */
  public int size() {
    return items.limit() / SolveItem.BYTES;
  }

  /** Words in which a solve counts its progress. */
  public int progressWords() {
    return HEAD_WORDS + (counts + 1) / 2;
  }
}
