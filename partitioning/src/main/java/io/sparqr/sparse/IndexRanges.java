/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.sparse;

import java.util.Objects;

/**
 * Comparisons of parts of arrays of indices. {@link java.util.Arrays} has them, too, but reads
 * outside of the array where a part begins at 2^29 or later: Java 17 counts its place there in
 * bytes in an int.
 */
public final class IndexRanges {

  /** Compared without asking in between, so that the loop is vectorized. */
  private static final int BLOCK = 1024;

  private IndexRanges() {}

  /**
   * Whether {@code a[aFrom, aTo)} and the indices of {@code b} from {@code bFrom} on are the same.
   * O(aTo - aFrom).
   *
   * @throws IndexOutOfBoundsException if a part is not within its array
   */
  public static boolean equal(int[] a, int aFrom, int aTo, int[] b, int bFrom) {
    Objects.checkFromToIndex(aFrom, aTo, a.length);
    int n = aTo - aFrom;
    Objects.checkFromIndexSize(bFrom, n, b.length);
    for (int from = 0; from < n; from += BLOCK) {
      int to = Math.min(n, from + BLOCK);
      int differing = 0;
      for (int k = from; k < to; k++) {
        differing |= a[aFrom + k] ^ b[bFrom + k];
      }
      if (differing != 0) {
        return false;
      }
    }
    return true;
  }

  /**
   * Lexicographic order of {@code a[aFrom, aTo)} and {@code b[bFrom, bTo)}: negative, 0 or positive
   * as the first is less, the same or greater; the shorter is less if the longer begins with it.
   *
   * @throws IndexOutOfBoundsException if a part is not within its array
   */
  public static int compare(int[] a, int aFrom, int aTo, int[] b, int bFrom, int bTo) {
    Objects.checkFromToIndex(aFrom, aTo, a.length);
    Objects.checkFromToIndex(bFrom, bTo, b.length);
    int n = Math.min(aTo - aFrom, bTo - bFrom);
    for (int k = 0; k < n; k++) {
      int x = a[aFrom + k];
      int y = b[bFrom + k];
      if (x != y) {
        return Integer.compare(x, y);
      }
    }
    return Integer.compare(aTo - aFrom, bTo - bFrom);
  }
}
