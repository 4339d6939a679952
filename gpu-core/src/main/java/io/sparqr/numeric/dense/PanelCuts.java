/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.dense;

/**
 * The panels of a matrix with a staircase: of limited width, and narrower where the staircase grows
 * so fast that the panel's rectangle would hold more than {@value #WASTE} times the entries of its
 * columns.
 */
final class PanelCuts {

  /** Minimum width of all panels but the last. */
  private static final int LEAST_WIDTH = 8;

  private static final double WASTE = 1.25;

  /** For each of {@code count} panels, the column behind its last one. */
  int[] end = new int[8];

  /** Number of panels. */
  int count;

  /**
   * Cuts columns [from, columns).
   *
   * @param stair size columns, ascending: rows of each column
   * @param slope rows lost from each column to the next: 1 if the trapezoid takes its rows from the
   *     same matrix, 0 if it is stored separately
   */
  void cut(int from, int columns, int width, int[] stair, int slope) {
    if (end.length < columns / LEAST_WIDTH + 1) {
      end = new int[columns / LEAST_WIDTH + 1];
    }
    count = 0;
    int k = from;
    while (k < columns) {
      int first = k;
      double needed = Math.max(stair[k] - slope * k, 1);
      k++;
      while (k < columns && k - first < width) {
        double height = Math.max(stair[k] - slope * k, 1);
        int wide = k + 1 - first;
        double box = wide * (height + slope * (wide - 1) * 0.5);
        if (wide > LEAST_WIDTH && box > WASTE * (needed + height)) {
          break;
        }
        needed += height;
        k++;
      }
      end[count++] = k;
    }
  }

  /** The best panel width for {@code size} columns. */
  static int width(int size) {
    if (size < 192) {
      return 32;
    }
    return size < 1536 ? 64 : 128;
  }
}
