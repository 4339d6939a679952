/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.gram;

import io.sparqr.numeric.dense.ColumnStrips;

/**
 * Some columns of a Gram matrix's upper triangle while they are summed in twice the precision: the
 * high parts are in the matrix, the low ones here until all is added. One column at a time is
 * pointed at.
 */
final class GramStrip {

  /** The first column, and the end. */
  final int from;

  final int to;
  private final ColumnStrips high;
  private double[] low;

  /** The column that is pointed at: its array, where it begins there, and among the low parts. */
  private double[] array = {};

  private int at;
  private int lowAt;

  GramStrip(ColumnStrips high, int from, int to) {
    this.high = high;
    this.from = from;
    this.to = to;
    low = new double[Math.toIntExact(length(to) - length(from))];
  }

  /** Entries of the upper triangle of so many columns. */
  static long length(long columns) {
    return columns * (columns + 1) / 2;
  }

  /** Points at a column of the strip. */
  void column(int j) {
    array = high.array(j);
    at = high.at(j);
    lowAt = (int) (length(j) - length(from));
  }

  /** Entry i of the column, i at most its number, += x + y. */
  void add(int i, double x, double y) {
    double old = array[at + i];
    double sum = old + x;
    double b = sum - old;
    low[lowAt + i] += ((old - (sum - b)) + (x - b)) + y;
    array[at + i] = sum;
  }

  /** Entry i of the column += x, rounded. */
  void addRounded(int i, double x) {
    array[at + i] += x;
  }

  /** Rounds all sums; nothing can be added any more. */
  void round() {
    for (int j = from; j < to; j++) {
      column(j);
      for (int i = 0; i <= j; i++) {
        array[at + i] += low[lowAt + i];
      }
    }
    low = RowPiece.NO_VALUES;
  }
}
