/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.assembly;

import io.sparqr.sparse.IndexRanges;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.Arrays;

/**
 * The places of all inputs in a front. Columns are numbered 0 .. fn - 1: pivots, then the tail.
 * Rows are numbered in input order: the front's rows of A in their given order, then the rows of
 * the children's contribution blocks, children ascending. Sorted by leftmost column, stably, they
 * give the front's staircase; so a front is the same whether a child is factored with it or arrives
 * from another stage, task or executor.
 *
 * <p>Row i of a contribution block starts at column i of the child's tail, so its leftmost column
 * here is that of the tail's column i: only a child's number and its number of rows matter.
 *
 * <p>For one front at a time: {@link #begin}, {@link #addChild} for each child, {@link #sort}. One
 * instance per thread; buffers are reused: n ints, and those of the largest front. O(rows + fn +
 * tails of the children) per front.
 */
public final class FrontLayout {

  /** The place of rows without entries, which have only right-hand sides. */
  public enum EmptyRows {
    /** After all others, with leftmost column fn: outside the staircase. */
    BEHIND,
    /** Among the rows that begin at the last column: part of the staircase. */
    LAST_COLUMN
  }

  private final SymbolicAnalysis analysis;
  private final RowsByFront rows;
  private final EmptyRows emptyRows;

  /** size n; column of the front at a position; undefined at other fronts' positions. */
  private final int[] columnAt;

  /** size fn: the positions of the front's columns. */
  private int[] positionOf = new int[64];

  private int front;
  private int fn;
  private int ownFrom;
  private int own;
  private int count;

  /** size count each, sorted or not: leftmost column, then place among the sorted rows. */
  private int[] leftmost = new int[64];

  private int[] destination = new int[64];

  /** size fn; rows whose leftmost column is at most k. */
  private int[] stair = new int[64];

  private int[] next = new int[64];
  private int childCount;
  private int[] child = new int[8];

  /** size childCount + 1; first row of each child; the end. */
  private int[] childRow = new int[9];

  /** size childCount + 1; a child's tail columns: columns[columnStart[c] .. columnStart[c + 1]). */
  private int[] columnStart = new int[9];

  private int[] columns = new int[64];

  /** A layout for the fronts of a task. */
  public FrontLayout(SymbolicAnalysis analysis, RowsByFront rows, EmptyRows emptyRows) {
    this.analysis = analysis;
    this.rows = rows;
    this.emptyRows = emptyRows;
    columnAt = new int[analysis.columns()];
  }

  /**
   * Starts a front of the task with its columns and its rows of A.
   *
   * @throws IllegalArgumentException if a row's first position is not a column of the front
   */
  public void begin(int f) {
    front = f;
    numberColumns();
    childCount = 0;
    ownFrom = rows.first(f);
    own = rows.count(f);
    count = own;
    leftmost = atLeast(leftmost, own);
    childRow[0] = own;
    int[] rowStart = rows.rows().rowStart();
    int[] position = rows.rows().position();
    int empty = emptyRows == EmptyRows.BEHIND ? fn : fn - 1;
    for (int i = 0; i < own; i++) {
      int row = rows.at(ownFrom + i);
      int start = rowStart[row];
      leftmost[i] = start == rowStart[row + 1] ? empty : column(row, position[start]);
    }
  }

  private void numberColumns() {
    fn = analysis.fn(front);
    int fp = analysis.fp(front);
    int first = analysis.firstPivot(front);
    positionOf = atLeast(positionOf, fn);
    for (int k = 0; k < fp; k++) {
      columnAt[first + k] = k;
      positionOf[k] = first + k;
    }
    int[] tail = analysis.data().tailColumns();
    int from = analysis.data().tailStart()[front];
    System.arraycopy(tail, from, positionOf, fp, fn - fp);
    for (int k = fp; k < fn; k++) {
      columnAt[positionOf[k]] = k;
    }
  }

  /**
   * Adds a child with contribution rows; children ascending.
   *
   * @param c the child's front
   * @param cm rows of its contribution block, at most its tail columns
   */
  public void addChild(int c, int cm) {
    if (childCount == child.length) {
      child = Arrays.copyOf(child, 2 * childCount);
      childRow = Arrays.copyOf(childRow, 2 * childCount + 1);
      columnStart = Arrays.copyOf(columnStart, 2 * childCount + 1);
    }
    int at = columnStart[childCount];
    int cn = analysis.cn(c);
    columns = atLeast(columns, at + cn);
    int[] tail = analysis.data().tailColumns();
    int from = analysis.data().tailStart()[c];
    for (int j = 0; j < cn; j++) {
      // A child's tail columns are columns of its parent: nothing to check.
      columns[at + j] = columnAt[tail[from + j]];
    }
    leftmost = atLeast(leftmost, count + cm);
    System.arraycopy(columns, at, leftmost, count, cm);
    count += cm;
    child[childCount++] = c;
    columnStart[childCount] = at + cn;
    childRow[childCount] = count;
  }

  /** Sorts the rows after all were added: a counting sort. */
  public void sort() {
    destination = atLeast(destination, count);
    stair = atLeast(stair, fn);
    next = atLeast(next, fn + 2);
    Arrays.fill(next, 0, fn + 2, 0);
    for (int i = 0; i < count; i++) {
      next[leftmost[i] + 1]++;
    }
    for (int k = 0; k < fn; k++) {
      next[k + 1] += next[k];
      stair[k] = next[k + 1];
    }
    for (int i = 0; i < count; i++) {
      destination[i] = next[leftmost[i]]++;
    }
  }

  /** Number of rows. */
  public int count() {
    return count;
  }

  /** Number of rows of A: they come first. */
  public int own() {
    return own;
  }

  /** The row in the task's block of row i of the front, i in [0, own). */
  public int row(int i) {
    return rows.at(ownFrom + i);
  }

  /**
   * Column of the front at a position of a row.
   *
   * @throws IllegalArgumentException if it is not a column of the front
   */
  public int column(int row, int position) {
    int k = position < 0 || position >= columnAt.length ? -1 : columnAt[position];
    if (k < 0 || k >= fn || positionOf[k] != position) {
      throw new IllegalArgumentException(
          "row " + row + " has position " + position + ", which is not a column of front " + front);
    }
    return k;
  }

  /**
   * Writes the places of a row's entries in a row-major front: {@code base} + column, for entry e
   * at {@code at} + e. A row with all columns needs no look-up for each entry. May be called by
   * several threads while the layout does not change.
   *
   * @throws IllegalArgumentException if a position is not a column of the front
   */
  public void places(int row, int base, int[] target, int at) {
    int from = rows.rows().rowStart()[row];
    int to = rows.rows().rowStart()[row + 1];
    int[] position = rows.rows().position();
    if (to - from == fn && IndexRanges.equal(position, from, to, positionOf, 0)) {
      for (int k = 0; k < to - from; k++) {
        target[at + k] = base + k;
      }
      return;
    }
    for (int e = from; e < to; e++) {
      target[at + e - from] = base + column(row, position[e]);
    }
  }

  /**
   * Size at least fn: stair[k] rows have a leftmost column of at most k. Overwritten by the next
   * front.
   */
  public int[] stair() {
    return stair;
  }

  /** Leftmost column of row i. */
  public int leftmost(int i) {
    return leftmost[i];
  }

  /**
   * Size at least count: place of each row among the sorted ones. Overwritten by the next front.
   */
  public int[] destination() {
    return destination;
  }

  /** Number of children added. */
  public int children() {
    return childCount;
  }

  /** Front of child number c, in order of addition. */
  public int child(int c) {
    return child[c];
  }

  /** First row of child c; for c = children(), the end. */
  public int childRow(int c) {
    return childRow[c];
  }

  /** The child of row i, i in [own, count). */
  public int childOf(int i) {
    int c = Arrays.binarySearch(childRow, 0, childCount, i);
    // A child without rows has the same start as the next one.
    while (c >= 0 && childRow[c + 1] == i) {
      c++;
    }
    return c >= 0 ? c : -c - 2;
  }

  /**
   * The children's tail columns as columns of the front, child by child. Overwritten by the next
   * front.
   */
  public int[] columns() {
    return columns;
  }

  /** Where child c's tail columns start in {@link #columns}; for c = children(), the end. */
  public int columnStart(int c) {
    return columnStart[c];
  }

  /** Rows in sorted order. */
  public int[] sortedOrder() {
    int[] order = new int[count];
    for (int i = 0; i < count; i++) {
      order[destination[i]] = i;
    }
    return order;
  }

  private static int[] atLeast(int[] array, int length) {
    return array.length >= length
        ? array
        : Arrays.copyOf(array, Math.max(length, 2 * array.length));
  }
}
