/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.pattern;

import io.sparqr.error.IndexOverflowException;
import io.sparqr.spark.wire.PatternCodec.Patterns;
import io.sparqr.sparse.SparsityPattern;
import java.util.Arrays;
import java.util.List;

/**
 * Puts distinct patterns that came in any order into one that depends on the patterns alone: by
 * least column, then by hash, then lexicographically. Near-linear.
 */
final class PatternOrder {

  private final List<Patterns> parts;
  private final int columns;
  private int[] partOf;
  private int[] indexOf;
  private int[] bucketStart;

  private PatternOrder(List<Patterns> parts, int columns) {
    this.parts = parts;
    this.columns = columns;
  }

  /**
   * The whole pattern.
   *
   * @param parts no pattern in two of them
   * @param ridge whether every column gets a further row of its own
   */
  static SparsityPattern merge(List<Patterns> parts, int columns, boolean ridge) {
    var order = new PatternOrder(parts, columns);
    order.bucketByFirstColumn();
    order.sortBuckets();
    return order.build(ridge);
  }

  private int first(int part, int p) {
    Patterns s = parts.get(part);
    return s.start()[p] == s.start()[p + 1] ? columns : s.column()[s.start()[p]];
  }

  private void bucketByFirstColumn() {
    int[] start = new int[columns + 2];
    long total = 0;
    for (int i = 0; i < parts.size(); i++) {
      int count = parts.get(i).multiplicity().length;
      total += count;
      if (total > Integer.MAX_VALUE - 8) {
        throw new IndexOverflowException(total + " distinct row patterns", "patterns", total);
      }
      for (int p = 0; p < count; p++) {
        start[first(i, p) + 1]++;
      }
    }
    for (int j = 0; j <= columns; j++) {
      start[j + 1] += start[j];
    }
    int[] next = start.clone();
    partOf = new int[(int) total];
    indexOf = new int[(int) total];
    for (int i = 0; i < parts.size(); i++) {
      int count = parts.get(i).multiplicity().length;
      for (int p = 0; p < count; p++) {
        int at = next[first(i, p)]++;
        partOf[at] = i;
        indexOf[at] = p;
      }
    }
    bucketStart = start;
  }

  private void sortBuckets() {
    for (int j = 0; j <= columns; j++) {
      int size = bucketStart[j + 1] - bucketStart[j];
      if (size > 1) {
        sortBucket(bucketStart[j], size);
      }
    }
  }

  private void sortBucket(int from, int size) {
    int bits = 32 - Integer.numberOfLeadingZeros(size - 1);
    long[] key = new long[size];
    for (int k = 0; k < size; k++) {
      Patterns s = parts.get(partOf[from + k]);
      int p = indexOf[from + k];
      key[k] = PatternTable.hash(s.column(), s.start()[p], s.start()[p + 1]) >>> bits << bits | k;
    }
    Arrays.sort(key);
    int[] part = Arrays.copyOfRange(partOf, from, from + size);
    int[] index = Arrays.copyOfRange(indexOf, from, from + size);
    for (int k = 0; k < size; k++) {
      int old = (int) (key[k] & (1L << bits) - 1);
      int at = from + k;
      for (;
          at > from
              && key[at - from - 1] >>> bits == key[k] >>> bits
              && compare(partOf[at - 1], indexOf[at - 1], part[old], index[old]) > 0;
          at--) {
        partOf[at] = partOf[at - 1];
        indexOf[at] = indexOf[at - 1];
      }
      partOf[at] = part[old];
      indexOf[at] = index[old];
    }
  }

  private int compare(int part, int p, int otherPart, int q) {
    Patterns a = parts.get(part);
    Patterns b = parts.get(otherPart);
    return Arrays.compare(
        a.column(), a.start()[p], a.start()[p + 1], b.column(), b.start()[q], b.start()[q + 1]);
  }

  private SparsityPattern build(boolean ridge) {
    long entries = 0;
    for (Patterns s : parts) {
      entries += s.column().length;
    }
    int count = partOf.length + (ridge ? columns : 0);
    entries += ridge ? columns : 0;
    if (entries > Integer.MAX_VALUE - 8) {
      throw new IndexOverflowException(
          "the distinct row patterns have " + entries + " entries", "pattern entries", entries);
    }
    long[] start = new long[count + 1];
    long[] multiplicity = new long[count];
    int[] column = new int[(int) entries];
    int k = 0;
    int at = 0;
    for (int j = 0; j <= columns; j++) {
      boolean missing = ridge && j < columns;
      for (int i = bucketStart[j]; i < bucketStart[j + 1]; i++) {
        Patterns s = parts.get(partOf[i]);
        int p = indexOf[i];
        int length = s.start()[p + 1] - s.start()[p];
        System.arraycopy(s.column(), s.start()[p], column, at, length);
        multiplicity[k] = s.multiplicity()[p];
        if (missing && length == 1) {
          multiplicity[k]++;
          missing = false;
        }
        at += length;
        start[++k] = at;
      }
      if (missing) {
        column[at++] = j;
        multiplicity[k] = 1;
        start[++k] = at;
      }
    }
    return new SparsityPattern(
        columns,
        Arrays.copyOf(start, k + 1),
        Arrays.copyOf(column, at),
        Arrays.copyOf(multiplicity, k));
  }
}
