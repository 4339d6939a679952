/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import io.sparqr.matrix.DenseMatrix;
import io.sparqr.spark.SparseRow;
import io.sparqr.sparse.CsrMatrix;
import java.io.Serializable;
import java.util.Arrays;
import java.util.Iterator;
import java.util.NoSuchElementException;

/**
 * Consecutive rows of A and b as a few primitive arrays: what travels to an executor. Rows are
 * [first, last) of the arrays; both matrices as in {@link LocalProblem}.
 *
 * @param columns n
 * @param rowStart size last+1 at least
 * @param rhsRows leading dimension of rhs
 * @param rhs column-major, rhsRows x k
 */
record RowSlice(
    int columns,
    int[] rowStart,
    int[] columnIndex,
    double[] values,
    int rhsRows,
    double[] rhs,
    int first,
    int last)
    implements Serializable, Iterable<SparseRow> {

  /** Rows of the problem, arrays shared. */
  static RowSlice shared(LocalProblem problem, int first, int last) {
    CsrMatrix a = problem.a();
    return new RowSlice(
        a.columns(),
        a.rowStart(),
        a.columnIndex(),
        a.values(),
        a.rows(),
        problem.b().values(),
        first,
        last);
  }

  /** The same rows in arrays of their own. */
  RowSlice copy() {
    int count = last - first;
    int from = rowStart[first];
    int[] start = new int[count + 1];
    for (int i = 0; i <= count; i++) {
      start[i] = rowStart[first + i] - from;
    }
    int rhsColumns = rhsRows == 0 ? 0 : rhs.length / rhsRows;
    double[][] b = new double[rhsColumns][];
    for (int j = 0; j < rhsColumns; j++) {
      b[j] = Arrays.copyOfRange(rhs, j * rhsRows + first, j * rhsRows + last);
    }
    return new RowSlice(
        columns,
        start,
        Arrays.copyOfRange(columnIndex, from, rowStart[last]),
        Arrays.copyOfRange(values, from, rowStart[last]),
        count,
        DenseMatrix.ofColumns(count, b).values(),
        0,
        count);
  }

  @Override
  public Iterator<SparseRow> iterator() {
    return new Iterator<>() {
      private int row = first;

      @Override
      public boolean hasNext() {
        return row < last;
      }

      @Override
      public SparseRow next() {
        if (row >= last) {
          throw new NoSuchElementException();
        }
        return row(row++);
      }
    };
  }

  private SparseRow row(int i) {
    double[] labels = new double[rhs.length / rhsRows];
    for (int j = 0; j < labels.length; j++) {
      labels[j] = rhs[j * rhsRows + i];
    }
    int from = rowStart[i];
    int to = rowStart[i + 1];
    return new SparseRow(
        Arrays.copyOfRange(columnIndex, from, to),
        Arrays.copyOfRange(values, from, to),
        labels,
        1,
        columns);
  }
}
