/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cpu;

import io.sparqr.numeric.ContributionBlock;
import io.sparqr.numeric.RowBlock;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.Arrays;

/**
 * The rows that come into one front, numbered: its rows of A in their given order, then the rows of
 * the children's contribution blocks, children ascending. Sorted by leftmost local column, stably,
 * they give the front's staircase. One instance a thread; buffers are kept.
 */
final class FrontRows {

  private static final int STRIP = 32;

  private final SymbolicAnalysis analysis;
  private final RowBlock rows;

  /** Local column of a position; entries of other fronts' positions are stale. */
  private final int[] localOf;

  /** Rows of A of all the task's fronts, front by front. */
  private final int[] rowOrder;

  private int rowFrom;
  private int rowCount;
  private ContributionBlock[] children = new ContributionBlock[8];
  private int childCount;

  /** Children's tail columns as local columns: child c from childMapStart[c] on. */
  private int[] childMap = new int[64];

  private int[] childMapStart = new int[9];

  /** First row number of each child. */
  private int[] childFirst = new int[9];

  private int count;
  private int[] leftmost = new int[64];
  private int[] destination = new int[64];
  private int[] stair = new int[64];
  private int[] next = new int[65];
  private int fn;

  FrontRows(SymbolicAnalysis analysis, RowBlock rows, int[] rowOrder) {
    this.analysis = analysis;
    this.rows = rows;
    this.rowOrder = rowOrder;
    this.localOf = new int[analysis.columns()];
  }

  /** Starts front f: its columns, its rows of A at rowOrder[from .. to). */
  void begin(int f, int from, int to) {
    int fp = analysis.fp(f);
    fn = analysis.fn(f);
    int first = analysis.firstPivot(f);
    for (int k = 0; k < fp; k++) {
      localOf[first + k] = k;
    }
    int[] tail = analysis.data().tailColumns();
    int tailFrom = Math.toIntExact(analysis.data().tailStart()[f]);
    for (int k = fp; k < fn; k++) {
      localOf[tail[tailFrom + k - fp]] = k;
    }
    rowFrom = from;
    rowCount = to - from;
    childCount = 0;
    childMapStart[0] = 0;
    count = rowCount;
    leftmost = atLeast(leftmost, count);
    for (int i = 0; i < rowCount; i++) {
      leftmost[i] = leftmostOfRow(f, rowOrder[from + i]);
    }
  }

  private int leftmostOfRow(int f, int row) {
    int start = rows.rowStart()[row];
    if (start == rows.rowStart()[row + 1]) {
      return fn;
    }
    int position = rows.position()[start];
    int k = localOf[position];
    if (k >= fn || analysis.column(f, k) != position) {
      throw new IllegalArgumentException(
          "row " + row + " has position " + position + ", which is no column of front " + f);
    }
    return k;
  }

  /** Adds a child's block; children ascending. */
  void addChild(ContributionBlock block) {
    if (childCount == children.length) {
      children = Arrays.copyOf(children, 2 * childCount);
      childMapStart = Arrays.copyOf(childMapStart, 2 * childCount + 1);
      childFirst = Arrays.copyOf(childFirst, 2 * childCount + 1);
    }
    int at = childMapStart[childCount];
    int cn = block.cn();
    childMap = atLeast(childMap, at + cn);
    int[] tail = analysis.data().tailColumns();
    int tailFrom = Math.toIntExact(analysis.data().tailStart()[block.front()]);
    for (int j = 0; j < cn; j++) {
      childMap[at + j] = localOf[tail[tailFrom + j]];
    }
    childFirst[childCount] = count;
    childMapStart[childCount + 1] = at + cn;
    children[childCount++] = block;
    leftmost = atLeast(leftmost, count + block.cm());
    System.arraycopy(childMap, at, leftmost, count, block.cm());
    count += block.cm();
  }

  /** Sorts; after it {@link #stair()} is valid. */
  void sort() {
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
  int count() {
    return count;
  }

  /** stair[k]: rows whose leftmost column is at most k. */
  int[] stair() {
    return stair;
  }

  /** Leftmost local column of row i; fn if the row is empty. */
  int leftmost(int i) {
    return leftmost[i];
  }

  /**
   * Writes all rows, sorted, into a zeroed column-major matrix with the right-hand sides behind.
   */
  void scatter(double[] matrix, int ld) {
    for (int i = 0; i < rowCount; i++) {
      scatterRow(rowOrder[rowFrom + i], matrix, ld, destination[i]);
    }
    for (int c = 0; c < childCount; c++) {
      scatterChild(c, matrix, ld);
    }
  }

  /** All rows of a child, strip by strip of columns, so that the front's cache lines are reused. */
  private void scatterChild(int c, double[] matrix, int ld) {
    ContributionBlock block = children[c];
    double[] values = block.values();
    int cm = block.cm();
    int cn = block.cn();
    int map = childMapStart[c];
    int rows = childFirst[c];
    for (int strip = 0; strip < cn; strip += STRIP) {
      int end = Math.min(strip + STRIP, cn);
      int shift = 0;
      for (int i = 0; i < cm && i < end; i++) {
        int to = destination[rows + i];
        for (int j = Math.max(i, strip); j < end; j++) {
          matrix[to + childMap[map + j] * ld] = values[shift + j];
        }
        shift += cn - i - 1;
      }
    }
    int nrhs = block.rhsCount();
    for (int i = 0; i < cm; i++) {
      for (int q = 0; q < nrhs; q++) {
        matrix[destination[rows + i] + (fn + q) * ld] = block.rhs()[i * nrhs + q];
      }
    }
  }

  /** Writes row i to matrix[offset + local column * ld], the right-hand sides behind. */
  void scatterOne(int i, double[] matrix, int ld, int offset) {
    if (i < rowCount) {
      scatterRow(rowOrder[rowFrom + i], matrix, ld, offset);
      return;
    }
    int c = Arrays.binarySearch(childFirst, 0, childCount, i);
    c = c >= 0 ? c : -c - 2;
    scatterChild(c, i - childFirst[c], matrix, ld, offset);
  }

  /** Row numbers in sorted order. */
  int[] sortedOrder() {
    int[] order = new int[count];
    for (int i = 0; i < count; i++) {
      order[destination[i]] = i;
    }
    return order;
  }

  /** Places of the front's rows of A among the sorted rows. */
  int[] ownPlaces() {
    return Arrays.copyOf(destination, rowCount);
  }

  /** Children, ascending. */
  int[] children() {
    int[] front = new int[childCount];
    for (int c = 0; c < childCount; c++) {
      front[c] = children[c].front();
    }
    return front;
  }

  /** Size children + 1; offsets in {@link #childPlaces}. */
  int[] childStart() {
    int[] start = new int[childCount + 1];
    for (int c = 0; c < childCount; c++) {
      start[c + 1] = start[c] + children[c].cm();
    }
    return start;
  }

  /** Places of the children's rows among the sorted rows. */
  int[] childPlaces() {
    return Arrays.copyOfRange(destination, rowCount, count);
  }

  /** Lets go of the children's blocks. */
  void release() {
    Arrays.fill(children, 0, childCount, null);
    childCount = 0;
  }

  private void scatterRow(int row, double[] matrix, int ld, int offset) {
    int[] position = rows.position();
    double[] value = rows.value();
    for (int k = rows.rowStart()[row]; k < rows.rowStart()[row + 1]; k++) {
      int local = localOf[position[k]];
      if (local >= fn) {
        throw new IllegalArgumentException(
            "row " + row + " has position " + position[k] + " outside of its front");
      }
      matrix[offset + local * ld] = value[k];
    }
    int nrhs = rows.rhsCount();
    for (int q = 0; q < nrhs; q++) {
      matrix[offset + (fn + q) * ld] = rows.rhs()[row * nrhs + q];
    }
  }

  private void scatterChild(int c, int i, double[] matrix, int ld, int offset) {
    ContributionBlock block = children[c];
    double[] values = block.values();
    int cn = block.cn();
    int from = Math.toIntExact(block.rowOffset(i));
    int map = childMapStart[c] - i;
    for (int j = i; j < cn; j++) {
      matrix[offset + childMap[map + i + j] * ld] = values[from + j - i];
    }
    int nrhs = block.rhsCount();
    for (int q = 0; q < nrhs; q++) {
      matrix[offset + (fn + q) * ld] = block.rhs()[i * nrhs + q];
    }
  }

  private static int[] atLeast(int[] array, int length) {
    return array.length >= length
        ? array
        : Arrays.copyOf(array, Math.max(length, 2 * array.length));
  }
}
