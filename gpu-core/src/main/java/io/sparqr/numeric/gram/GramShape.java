/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.gram;

/**
 * A subtree of fronts that is factored by its Gram matrix as one. Its n columns are numbered front
 * by front, each front's pivots in a row; after them come the columns that the last front, the
 * root, has besides. R has the rows of all pivots, and those of the root's other columns, which
 * become its contribution block.
 *
 * @param pivotStart size K + 1; first pivot of each front, in postorder; the end
 * @param tailStart size K + 1; where each front's other columns begin in {@code tail}; the end
 * @param tail columns of the fronts that are not their pivots, ascending, columns of their parents
 * @param parent size K; -1 for the root
 */
public record GramShape(int[] pivotStart, int[] tailStart, int[] tail, int[] parent) {

  /** A single front of n columns, of which so many lead. */
  public static GramShape single(int pivots, int n) {
    int[] tail = new int[n - pivots];
    for (int k = 0; k < tail.length; k++) {
      tail[k] = pivots + k;
    }
    return new GramShape(new int[] {0, pivots}, new int[] {0, n - pivots}, tail, new int[] {-1});
  }

  /** K. */
  public int fronts() {
    return parent.length;
  }

  /** Pivots of front k. */
  public int pivots(int k) {
    return pivotStart[k + 1] - pivotStart[k];
  }

  /** Columns of front k that are not its pivots. */
  public int tail(int k) {
    return tailStart[k + 1] - tailStart[k];
  }

  /** Rows of R of front k: its pivots, and all columns for the root. */
  int rows(int k) {
    return k == fronts() - 1 ? pivots(k) + tail(k) : pivots(k);
  }

  /** All pivots: columns that a rank test looks at. */
  int tested() {
    return pivotStart[fronts()];
  }

  /** n. */
  public int size() {
    return tested() + tail(fronts() - 1);
  }

  /** Columns of the front with the most. O(fronts). */
  int widest() {
    int most = 0;
    for (int k = 0; k < fronts(); k++) {
      most = Math.max(most, pivots(k) + tail(k));
    }
    return most;
  }

  /** Column j of front k. */
  int column(int k, int j) {
    int p = pivots(k);
    return j < p ? pivotStart[k] + j : tail[tailStart[k] + j - p];
  }

  /** Entries of R. */
  public long entries() {
    long sum = 0;
    for (int k = 0; k < fronts(); k++) {
      long rows = rows(k);
      sum += rows * (pivots(k) + tail(k)) - rows * (rows - 1) / 2;
    }
    return sum;
  }
}
