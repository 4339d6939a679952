/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering.degree;

import java.util.Arrays;

/**
 * Sorts rows lexicographically without duplicates, by partition refinement (Paige and Tarjan 1987):
 * each column in ascending order splits every class of rows into those with the column and, after
 * them, those without it. O(entries) for any rows. Minimum degree breaks ties by the order of its
 * lists: a canonical order makes the result independent of the sequence of the rows, and on grids a
 * shuffled one costs half as many flops again.
 */
final class RowOrder {

  private static final int NONE = -1;

  /** size rows; the class of a row. */
  private final int[] classOf;

  /** size rows; rows in a class. */
  private final int[] size;

  /** size rows; the classes as a doubly linked list. */
  private final int[] next;

  private final int[] previous;

  /** size rows; the class that splits off before this one, and the column at which it did. */
  private final int[] split;

  private final int[] splitAt;

  /** size rows; stack of free class numbers. */
  private final int[] unused;

  private int unusedCount;
  private int first;

  private RowOrder(int rows) {
    classOf = new int[rows];
    size = new int[rows];
    next = new int[rows];
    previous = new int[rows];
    split = new int[rows];
    splitAt = new int[rows];
    unused = new int[rows];
    Arrays.fill(splitAt, NONE);
    for (int c = rows - 1; c > 0; c--) {
      unused[unusedCount++] = c;
    }
    size[0] = rows;
    next[0] = NONE;
    previous[0] = NONE;
  }

  /**
   * Sorts the rows.
   *
   * @param rows number of rows, at least 1
   * @param columnStart size n+1; the rows of column j are {@code columnRow[columnStart[j] ..
   *     columnStart[j+1])}, each once
   * @return one row of each set of equal ones, the first of them, in lexicographic order
   */
  static int[] distinct(int rows, int[] columnStart, int[] columnRow) {
    RowOrder order = new RowOrder(rows);
    for (int j = 0; j + 1 < columnStart.length; j++) {
      for (int p = columnStart[j]; p < columnStart[j + 1]; p++) {
        order.move(columnRow[p], j);
      }
    }
    return order.representatives();
  }

  /** Moves a row from its class into the class that column j splits off before it. */
  private void move(int row, int column) {
    int from = classOf[row];
    if (splitAt[from] != column) {
      if (size[from] == 1) {
        return;
      }
      int fresh = unused[--unusedCount];
      int before = previous[from];
      previous[fresh] = before;
      next[fresh] = from;
      previous[from] = fresh;
      if (before == NONE) {
        first = fresh;
      } else {
        next[before] = fresh;
      }
      size[fresh] = 0;
      splitAt[fresh] = NONE;
      splitAt[from] = column;
      split[from] = fresh;
    }
    int to = split[from];
    classOf[row] = to;
    size[to]++;
    if (--size[from] == 0) {
      remove(from);
    }
  }

  private void remove(int c) {
    next[previous[c]] = next[c];
    if (next[c] != NONE) {
      previous[next[c]] = previous[c];
    }
    unused[unusedCount++] = c;
  }

  private int[] representatives() {
    int[] member = new int[size.length];
    for (int r = classOf.length - 1; r >= 0; r--) {
      member[classOf[r]] = r;
    }
    int[] out = new int[size.length - unusedCount];
    int k = 0;
    for (int c = first; c != NONE; c = next[c]) {
      out[k++] = member[c];
    }
    return out;
  }
}
