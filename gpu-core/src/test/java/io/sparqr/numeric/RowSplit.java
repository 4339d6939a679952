/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import io.sparqr.error.DimensionMismatchException;
import io.sparqr.error.NonFiniteValueException;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.Arrays;

/**
 * Rows of a matrix on one machine, split into those of the fronts and those of the singletons:
 * columns as positions, values scaled, with their right-hand sides.
 *
 * @param rows for the fronts
 * @param singletons the singletons' rows
 * @param residualSquares size rhsCount: squares of the right-hand sides of empty rows
 */
public record RowSplit(RowBlock rows, SingletonRows singletons, double[] residualSquares) {

  /**
   * Splits. O(nnz log row length).
   *
   * @param a m x n
   * @param b m x rhsCount, row-major
   * @param factors size n: what each (original) column is multiplied by
   * @throws NonFiniteValueException if an entry of A or b is NaN or infinite
   */
  public static RowSplit of(
      CsrMatrix a, double[] b, int rhsCount, SymbolicAnalysis analysis, double[] factors) {
    if (b.length != (long) a.rows() * rhsCount) {
      throw new DimensionMismatchException(
          "right-hand side has " + b.length + " values for " + a.rows() + " rows x " + rhsCount,
          "right-hand side",
          (long) a.rows() * rhsCount,
          b.length);
    }
    int n1 = analysis.singletons();
    int[] position = new int[a.nonzeros()];
    double[] value = new double[a.nonzeros()];
    int[] least = new int[a.rows()];
    int frontRows = 0;
    int frontEntries = 0;
    int[] rowOfSingleton = new int[n1];
    double[] residual = new double[rhsCount];
    for (int i = 0; i < a.rows(); i++) {
      int from = a.rowStart()[i];
      int to = a.rowStart()[i + 1];
      for (int k = from; k < to; k++) {
        int j = a.columnIndex()[k];
        checkFinite(a.values()[k], i, j);
        position[k] = analysis.permutation().position(j);
        value[k] = a.values()[k] * factors[j];
      }
      for (int q = 0; q < rhsCount; q++) {
        checkFinite(b[i * rhsCount + q], i, -1);
      }
      sort(position, value, from, to);
      least[i] = from == to ? -1 : position[from];
      if (from == to) {
        for (int q = 0; q < rhsCount; q++) {
          residual[q] += b[i * rhsCount + q] * b[i * rhsCount + q];
        }
      } else if (least[i] < n1) {
        rowOfSingleton[least[i]] = i;
      } else {
        frontRows++;
        frontEntries += to - from;
      }
    }
    int[] front = new int[frontRows];
    int[] source = new int[frontRows];
    int r = 0;
    for (int i = 0; i < a.rows(); i++) {
      if (least[i] >= n1) {
        front[r] = analysis.frontOfPosition(least[i]);
        source[r++] = i;
      }
    }
    var block = new Copier(a.rowStart(), position, value, b, rhsCount);
    block.copy(source, frontEntries);
    var rows = new RowBlock(front, block.start, block.position, block.value, block.rhs, rhsCount);
    var one = new Copier(a.rowStart(), position, value, b, rhsCount);
    one.copy(rowOfSingleton, a.nonzeros() - frontEntries);
    var singletons = new SingletonRows(one.start, one.position, one.value, one.rhs, rhsCount);
    return new RowSplit(rows, singletons, residual);
  }

  private static void checkFinite(double x, int row, int column) {
    if (!Double.isFinite(x)) {
      String where = column < 0 ? "right-hand side" : "column " + column;
      throw new NonFiniteValueException(x + " in row " + row + ", " + where, row, column);
    }
  }

  /** Sorts entries [from, to) by position; positions are distinct. */
  public static void sort(int[] position, double[] value, int from, int to) {
    if (to - from > 64) {
      sortLong(position, value, from, to);
      return;
    }
    for (int k = from + 1; k < to; k++) {
      int p = position[k];
      double v = value[k];
      int l = k - 1;
      while (l >= from && position[l] > p) {
        position[l + 1] = position[l];
        value[l + 1] = value[l];
        l--;
      }
      position[l + 1] = p;
      value[l + 1] = v;
    }
  }

  private static void sortLong(int[] position, double[] value, int from, int to) {
    long[] key = new long[to - from];
    for (int k = from; k < to; k++) {
      key[k - from] = (long) position[k] << 32 | (k - from);
    }
    Arrays.sort(key);
    double[] old = Arrays.copyOfRange(value, from, to);
    for (int k = from; k < to; k++) {
      position[k] = (int) (key[k - from] >>> 32);
      value[k] = old[(int) key[k - from]];
    }
  }

  /** Copies chosen rows into arrays of their own. */
  private static final class Copier {
    private final int[] fromStart;
    private final int[] fromPosition;
    private final double[] fromValue;
    private final double[] fromRhs;
    private final int rhsCount;
    int[] start;
    int[] position;
    double[] value;
    double[] rhs;

    Copier(int[] start, int[] position, double[] value, double[] rhs, int rhsCount) {
      fromStart = start;
      fromPosition = position;
      fromValue = value;
      fromRhs = rhs;
      this.rhsCount = rhsCount;
    }

    void copy(int[] source, int entries) {
      start = new int[source.length + 1];
      position = new int[entries];
      value = new double[entries];
      rhs = new double[Math.multiplyExact(source.length, rhsCount)];
      for (int r = 0; r < source.length; r++) {
        int i = source[r];
        int length = fromStart[i + 1] - fromStart[i];
        start[r + 1] = start[r] + length;
        System.arraycopy(fromPosition, fromStart[i], position, start[r], length);
        System.arraycopy(fromValue, fromStart[i], value, start[r], length);
        System.arraycopy(fromRhs, i * rhsCount, rhs, r * rhsCount, rhsCount);
      }
    }
  }
}
