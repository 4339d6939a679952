/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering.graph;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Which of many hash values may occur more than once: a bit for those seen and one for those seen
 * again, in tables of about {@value #BITS} bits a value, so that few are suspected without reason.
 * Values are added by all threads; the answers do not depend on their sequence.
 */
final class RepeatedHashes {

  /** Bits of a table per value, twice as many at most. */
  private static final int BITS = 16;

  private static final VarHandle WORD = MethodHandles.arrayElementVarHandle(long[].class);

  private final long[] seen;
  private final long[] again;

  /**
   * Prepares the tables.
   *
   * @param values how many will be added
   */
  RepeatedHashes(int values) {
    long bits = 2L * BITS * Integer.highestOneBit(Math.max(1, values));
    seen = new long[Math.toIntExact(Math.max(1, bits / Long.SIZE))];
    again = new long[seen.length];
  }

  /** Adds a value. Thread-safe. */
  void add(long hash) {
    int word = word(hash);
    long bit = 1L << hash;
    // an outdated word costs a second write of a bit, no more
    boolean repeated =
        (seen[word] & bit) != 0 || ((long) WORD.getAndBitwiseOr(seen, word, bit) & bit) != 0;
    if (repeated && (again[word] & bit) == 0) {
      WORD.getAndBitwiseOr(again, word, bit);
    }
  }

  /** Whether the value may have been added more than once. To be asked when all are added. */
  boolean mayRepeat(long hash) {
    return (again[word(hash)] & 1L << hash) != 0;
  }

  /** By bits other than the six that choose the bit of the word. */
  private int word(long hash) {
    return (int) (hash >>> 32) & seen.length - 1;
  }
}
