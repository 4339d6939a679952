/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.matrix;

import io.sparqr.error.IndexOverflowException;
import io.sparqr.error.InsufficientMemoryException;
import io.sparqr.sparse.CsrMatrix;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Entries (row, column, value) in any order, to be turned into compressed rows. Kept in blocks, so
 * that growing copies nothing. Not thread-safe.
 */
public final class Triplets {

  private static final int MOST = Integer.MAX_VALUE - 16;
  private static final int FIRST_BLOCK = 1 << 12;
  private static final int LARGEST_BLOCK = 1 << 20;

  /** Entries in order of arrival; without values all are 1. */
  private record Block(int[] row, int[] column, double @Nullable [] value, int count) {}

  private final List<Block> blocks = new ArrayList<>();
  private long total;
  private int count;
  private int[] row;
  private int[] column;
  private double[] value;

  /** A matrix without entries, to which they are added. */
  public Triplets() {
    open(0);
  }

  private void open(int capacity) {
    count = 0;
    row = new int[capacity];
    column = new int[capacity];
    value = new double[capacity];
  }

  private void seal() {
    if (count > 0) {
      blocks.add(new Block(row, column, value, count));
      total += count;
      requireAddressable();
    }
  }

  private void requireAddressable() {
    if (total > MOST) {
      throw new IndexOverflowException(
          "more than " + MOST + " entries do not fit one JVM's arrays", "entries", total);
    }
  }

  /** Appends an entry, 0-based. O(1). */
  public void add(int i, int j, double v) {
    if (count == row.length) {
      seal();
      open(Math.max(FIRST_BLOCK, Math.min(LARGEST_BLOCK, 2 * row.length)));
    }
    row[count] = i;
    column[count] = j;
    value[count++] = v;
  }

  /**
   * Appends all entries of three arrays of equal length, which are kept, not copied.
   *
   * @param v the values, unless all are 1
   */
  public void addAll(int[] i, int[] j, double @Nullable [] v) {
    seal();
    open(0);
    blocks.add(new Block(i, j, v, i.length));
    total += i.length;
    requireAddressable();
  }

  /**
   * Compressed rows, columns ascending, duplicates summed in order of arrival. O(m + entries) if
   * the entries of every row arrive with ascending columns, as from a file sorted by rows or by
   * columns; otherwise a row of k entries costs O(k log k) more.
   */
  public CsrMatrix toCsr(int rows, int columns) {
    seal();
    open(0);
    requireMemory(rows, columns);
    int[] start = new int[rows + 1];
    for (Block b : blocks) {
      for (int k = 0; k < b.count; k++) {
        start[b.row[k] + 1]++;
      }
    }
    for (int i = 0; i < rows; i++) {
      start[i + 1] += start[i];
    }
    int[] next = Arrays.copyOf(start, rows);
    int[] index = new int[(int) total];
    double[] values = new double[(int) total];
    for (Block b : blocks) {
      for (int k = 0; k < b.count; k++) {
        int q = next[b.row[k]]++;
        index[q] = b.column[k];
        values[q] = b.value == null ? 1 : b.value[k];
      }
    }
    blocks.clear();
    sortRows(rows, start, index, values);
    return sumDuplicates(rows, columns, start, index, values);
  }

  /** Sorts every row by column, stably. */
  private static void sortRows(int rows, int[] start, int[] index, double[] values) {
    long[] key = new long[0];
    double[] copy = new double[0];
    for (int i = 0; i < rows; i++) {
      int from = start[i];
      int length = start[i + 1] - from;
      if (ascending(index, from, from + length)) {
        continue;
      }
      if (key.length < length) {
        key = new long[Math.max(length, 2 * key.length)];
        copy = new double[key.length];
      }
      for (int k = 0; k < length; k++) {
        key[k] = (long) index[from + k] << 32 | k;
      }
      System.arraycopy(values, from, copy, 0, length);
      Arrays.sort(key, 0, length);
      for (int k = 0; k < length; k++) {
        index[from + k] = (int) (key[k] >>> 32);
        values[from + k] = copy[(int) key[k]];
      }
    }
  }

  private static boolean ascending(int[] index, int from, int to) {
    for (int k = from + 1; k < to; k++) {
      if (index[k] < index[k - 1]) {
        return false;
      }
    }
    return true;
  }

  private static CsrMatrix sumDuplicates(
      int rows, int columns, int[] start, int[] index, double[] values) {
    int kept = 0;
    int from = 0;
    for (int i = 0; i < rows; i++) {
      int rowBegin = kept;
      int to = start[i + 1];
      for (int k = from; k < to; k++) {
        if (kept > rowBegin && index[kept - 1] == index[k]) {
          values[kept - 1] += values[k];
        } else {
          index[kept] = index[k];
          values[kept++] = values[k];
        }
      }
      from = to;
      start[i + 1] = kept;
    }
    if (kept < index.length) {
      return new CsrMatrix(
          rows, columns, start, Arrays.copyOf(index, kept), Arrays.copyOf(values, kept));
    }
    return new CsrMatrix(rows, columns, start, index, values);
  }

  private void requireMemory(int rows, int columns) {
    long needed = 8L * rows + 4L * columns + 16L * total;
    long heap = Runtime.getRuntime().maxMemory();
    if (needed > heap) {
      throw new InsufficientMemoryException(
          "a "
              + rows
              + " x "
              + columns
              + " matrix with "
              + total
              + " entries needs "
              + needed
              + " bytes in one JVM, whose heap is "
              + heap,
          needed,
          heap);
    }
  }
}
