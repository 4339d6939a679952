/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.pattern;

import io.sparqr.error.IndexOverflowException;
import io.sparqr.spark.wire.PatternCodec.Patterns;
import io.sparqr.sparse.IndexRanges;
import java.util.Arrays;

/**
 * Distinct row patterns with their multiplicities: an open-addressing hash table on flat arrays.
 *
 * <p>What is added waits until there are {@value #BATCH}, which are then looked up together: each
 * look-up of a new pattern is a cache miss, and those of a batch overlap.
 */
final class PatternTable {

  private static final long UPPER = 0xffffffff00000000L;

  /** Patterns looked up together. */
  private static final int BATCH = 64;

  /** Their entries beyond which the batch is not filled. */
  private static final int BATCH_ENTRIES = 1 << 14;

  /** Number of distinct patterns; behind them come those not looked up yet. */
  private int size;

  private int waiting;
  private long sum;
  private int[] start = new int[17];
  private long[] multiplicity = new long[16];
  private long[] hash = new long[16];
  private int[] column = new int[64];

  /**
   * A power of 2, at most half full. Upper half of the hash << 32 | number + 1, or 0: whether a
   * pattern may be the one sought is seen without a look elsewhere in memory.
   */
  private long[] slot = new long[32];

  /** For the batch being looked up: where each search begins. */
  private final long[] seen = new long[BATCH];

  PatternTable() {}

  /** A 64-bit hash of entries [from, to): the same in every JVM. */
  static long hash(int[] columns, int from, int to) {
    long h = 0x9E3779B97F4A7C15L + (to - from);
    for (int k = from; k < to; k++) {
      h = (h ^ columns[k]) * 0xBF58476D1CE4E5B9L;
      h ^= h >>> 29;
    }
    h *= 0x94D049BB133111EBL;
    return h ^ h >>> 32;
  }

  /** Adds {@code times} occurrences of a pattern, entries [from, to) of the array. */
  void add(int[] columns, int from, int to, long times) {
    long h = hash(columns, from, to);
    sum += times * h;
    append(columns, from, to, times, h);
    waiting++;
    if (waiting == BATCH || start[size + waiting] - start[size] > BATCH_ENTRIES) {
      settle();
    }
  }

  /** Looks up what waits; an equal pattern becomes one more of the first. */
  private void settle() {
    int end = size + waiting;
    waiting = 0;
    while (end * 2L > slot.length) {
      rehash();
    }
    for (int p = size; p < end; p++) {
      seen[p - size] = slot[place(hash[p], slot.length)];
    }
    int first = size;
    for (int p = first; p < end; p++) {
      settle(p, seen[p - first]);
    }
  }

  /**
   * Looks up a pattern.
   *
   * @param found where the search begins, before the others of the batch; only an empty place may
   *     have changed since
   */
  private void settle(int p, long found) {
    long h = hash[p];
    int mask = slot.length - 1;
    int s = place(h, slot.length);
    for (found = found == 0 ? slot[s] : found; found != 0; found = slot[s]) {
      int q = (int) found - 1;
      if ((found ^ h) >>> 32 == 0
          && hash[q] == h
          && start[q + 1] - start[q] == start[p + 1] - start[p]
          && IndexRanges.equal(column, start[q], start[q + 1], column, start[p])) {
        multiplicity[q] += multiplicity[p];
        return;
      }
      s = s + 1 & mask;
    }
    if (size < p) {
      int length = start[p + 1] - start[p];
      System.arraycopy(column, start[p], column, start[size], length);
      start[size + 1] = start[size] + length;
      multiplicity[size] = multiplicity[p];
      hash[size] = h;
    }
    slot[s] = h & UPPER | ++size;
  }

  /**
   * Where the search for a hash begins: bits of its upper half multiplied by the golden ratio,
   * because a reducer's hashes agree in some bits.
   */
  private static int place(long h, int slots) {
    return (int) (h >>> 32) * 0x9E3779B1 >>> Integer.numberOfLeadingZeros(slots) + 1;
  }

  private void append(int[] columns, int from, int to, long times, long h) {
    int at = size + waiting;
    if (at == multiplicity.length) {
      start = Arrays.copyOf(start, 2 * at + 1);
      multiplicity = Arrays.copyOf(multiplicity, 2 * at);
      hash = Arrays.copyOf(hash, 2 * at);
    }
    long end = (long) start[at] + to - from;
    if (end > column.length) {
      if (end > Integer.MAX_VALUE - 8) {
        throw new IndexOverflowException(
            "distinct row patterns of one partition have " + end + " entries: use more partitions",
            "pattern entries",
            end);
      }
      long larger = Math.max(end, Math.min(2L * column.length, Integer.MAX_VALUE - 8));
      column = Arrays.copyOf(column, (int) larger);
    }
    System.arraycopy(columns, from, column, start[at], to - from);
    multiplicity[at] = times;
    hash[at] = h;
    start[at + 1] = (int) end;
  }

  private void rehash() {
    long[] old = slot;
    slot = new long[2 * old.length];
    int mask = slot.length - 1;
    for (long x : old) {
      if (x != 0) {
        int s = place(x, slot.length);
        while (slot[s] != 0) {
          s = s + 1 & mask;
        }
        slot[s] = x;
      }
    }
  }

  /** Sum of the hashes of everything added, independent of order and merging. */
  long sum() {
    return sum;
  }

  /** Number of distinct patterns. */
  int size() {
    settle();
    return size;
  }

  /** Number of entries of the distinct patterns. */
  int entries() {
    settle();
    return start[size];
  }

  /** Sum of the squared lengths of the distinct patterns. */
  double squares() {
    settle();
    double sum = 0;
    for (int p = 0; p < size; p++) {
      double length = start[p + 1] - start[p];
      sum += length * length;
    }
    return sum;
  }

  /** All patterns in order of their first occurrence, in this table's own arrays; its last use. */
  DistinctPatterns distinct() {
    settle();
    slot = new long[0];
    return new DistinctPatterns(size, start, column, multiplicity, hash);
  }

  /** All patterns in the order of {@link PatternOrder}. O(entries + size log size). */
  Patterns sorted() {
    settle();
    long[] key = new long[size];
    for (int p = 0; p < size; p++) {
      key[p] = (long) first(p) << 32 | p;
    }
    Arrays.sort(key);
    var out = new Patterns(new long[size], new int[size + 1], new int[start[size]]);
    for (int from = 0; from < size; ) {
      int to = from + 1;
      while (to < size && key[to] >>> 32 == key[from] >>> 32) {
        to++;
      }
      sortByHash(key, from, to);
      for (int k = from; k < to; k++) {
        int p = (int) key[k];
        int length = start[p + 1] - start[p];
        out.multiplicity()[k] = multiplicity[p];
        System.arraycopy(column, start[p], out.column(), out.start()[k], length);
        out.start()[k + 1] = out.start()[k] + length;
      }
      from = to;
    }
    return out;
  }

  /**
   * Sorts patterns with the same first column, of which there are many if A has a column of ones.
   */
  private void sortByHash(long[] key, int from, int to) {
    if (to - from < 2) {
      return;
    }
    int bits = 32 - Integer.numberOfLeadingZeros(to - from - 1);
    long mask = (1L << bits) - 1;
    int[] old = new int[to - from];
    for (int k = from; k < to; k++) {
      old[k - from] = (int) key[k];
      key[k] = hash[(int) key[k]] & ~mask | (k - from);
    }
    Arrays.sort(key, from, to);
    for (int k = from; k < to; k++) {
      int p = old[(int) (key[k] & mask)];
      int at = k;
      for (; at > from && follows((int) key[at - 1], p); at--) {
        key[at] = key[at - 1];
      }
      key[at] = p;
    }
  }

  private boolean follows(int p, int q) {
    int c = Long.compare(hash[p], hash[q]);
    return c > 0
        || c == 0
            && IndexRanges.compare(column, start[p], start[p + 1], column, start[q], start[q + 1])
                > 0;
  }

  private int first(int p) {
    return start[p] == start[p + 1] ? Integer.MAX_VALUE : column[start[p]];
  }
}
