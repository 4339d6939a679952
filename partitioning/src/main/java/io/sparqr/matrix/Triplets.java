/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.matrix;

import io.sparqr.error.IndexOverflowException;
import io.sparqr.error.InsufficientMemoryException;
import io.sparqr.sparse.CsrMatrix;
import java.util.Arrays;

/** Entries (row, column, value) in any order, on their way to compressed rows. */
final class Triplets {

  private static final int MOST = Integer.MAX_VALUE - 16;

  private int count;
  private int[] row;
  private int[] column;
  private double[] value;

  /** Room for so many entries at first; a file's promise is not trusted beyond a million. */
  Triplets(long expected) {
    int capacity = (int) Math.max(16, Math.min(expected, 1 << 20));
    row = new int[capacity];
    column = new int[capacity];
    value = new double[capacity];
  }

  /** Appends an entry, 0-based. Amortised O(1). */
  void add(int i, int j, double v) {
    if (count == row.length) {
      grow();
    }
    row[count] = i;
    column[count] = j;
    value[count++] = v;
  }

  private void grow() {
    if (count == MOST) {
      throw new IndexOverflowException(
          "more than " + MOST + " entries do not fit one JVM's arrays", "entries", count + 1L);
    }
    int capacity = (int) Math.min(MOST, 2L * count);
    row = Arrays.copyOf(row, capacity);
    column = Arrays.copyOf(column, capacity);
    value = Arrays.copyOf(value, capacity);
  }

  /**
   * Compressed rows, columns ascending, entries of one place summed in the order they came.
   * O(entries + m + n), by two stable counting sorts.
   */
  CsrMatrix toCsr(int rows, int columns) {
    requireMemory(rows, columns);
    int[] order = sortedByColumn(columns);
    int[] start = new int[rows + 1];
    for (int k = 0; k < count; k++) {
      start[row[k] + 1]++;
    }
    for (int i = 0; i < rows; i++) {
      start[i + 1] += start[i];
    }
    int[] next = Arrays.copyOf(start, rows);
    int[] index = new int[count];
    double[] values = new double[count];
    for (int s = 0; s < count; s++) {
      int k = order == null ? s : order[s];
      int q = next[row[k]]++;
      index[q] = column[k];
      values[q] = value[k];
    }
    return sumDuplicates(rows, columns, start, index, values);
  }

  /** Entry numbers by ascending column, stable; null if rows come with ascending columns anyway. */
  private int[] sortedByColumn(int columns) {
    boolean ascending = true;
    for (int k = 1; k < count && ascending; k++) {
      ascending = row[k] > row[k - 1] || (row[k] == row[k - 1] && column[k] >= column[k - 1]);
    }
    if (ascending) {
      return null;
    }
    int[] start = new int[columns + 1];
    for (int k = 0; k < count; k++) {
      start[column[k] + 1]++;
    }
    for (int j = 0; j < columns; j++) {
      start[j + 1] += start[j];
    }
    int[] order = new int[count];
    for (int k = 0; k < count; k++) {
      order[start[column[k]]++] = k;
    }
    return order;
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
    long needed = 8L * rows + 4L * columns + 16L * count;
    long heap = Runtime.getRuntime().maxMemory();
    if (needed > heap) {
      throw new InsufficientMemoryException(
          "a "
              + rows
              + " x "
              + columns
              + " matrix with "
              + count
              + " entries needs "
              + needed
              + " bytes in one JVM, whose heap is "
              + heap,
          needed,
          heap);
    }
  }
}
