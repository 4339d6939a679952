/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.file;

import io.sparqr.matrix.DenseMatrix;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.sparse.CsrMatrix;
import java.io.Serializable;
import java.util.Arrays;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.function.IntFunction;

/**
 * Consecutive rows of A and b as a few primitive arrays, in the form sent to an executor and cached
 * there.
 *
 * <p>Not {@link io.sparqr.spark.rows.ParsedRows}, whose rows are checked and weighted: slices hold
 * what is in files, share the driver's arrays where they can, and come before any check.
 *
 * <p>A class rather than a record, because Kryo, which many Spark installations use, cannot read
 * records.
 */
public final class RowSlice implements Serializable, Iterable<SparseRow> {

  private static final long serialVersionUID = 1;

  /** Entries of the longest rows that are used again. */
  private static final int MOST_REUSED = 256;

  private final int columns;

  /** Starts of the rows in the arrays of entries; size at least last+1. */
  private final int[] rowStart;

  private final int[] columnIndex;
  private final double[] values;

  /** Leading dimension of rhs. */
  private final int rhsRows;

  /** Column-major, rhsRows x k. */
  private final double[] rhs;

  /** These rows are [first, last) of the arrays. */
  private final int first;

  private final int last;

  private RowSlice(
      int columns,
      int[] rowStart,
      int[] columnIndex,
      double[] values,
      int rhsRows,
      double[] rhs,
      int first,
      int last) {
    this.columns = columns;
    this.rowStart = rowStart;
    this.columnIndex = columnIndex;
    this.values = values;
    this.rhsRows = rhsRows;
    this.rhs = rhs;
    this.first = first;
    this.last = last;
  }

  /**
   * Rows [first, last) of a problem, with shared arrays.
   *
   * @param b with as many rows as A
   */
  public static RowSlice shared(CsrMatrix a, DenseMatrix b, int first, int last) {
    return new RowSlice(
        a.columns(), a.rowStart(), a.columnIndex(), a.values(), a.rows(), b.values(), first, last);
  }

  /** These rows in separate arrays. */
  public RowSlice copy() {
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

  /** These rows with n columns and with shift added to their indices. O(1) if shift is 0. */
  RowSlice counted(int n, int shift) {
    int[] index = columnIndex;
    if (shift != 0) {
      index = columnIndex.clone();
      for (int k = rowStart[first]; k < rowStart[last]; k++) {
        index[k] += shift;
      }
    }
    return new RowSlice(n, rowStart, index, values, rhsRows, rhs, first, last);
  }

  /** All rows with other right-hand sides; b has as many rows as our arrays. */
  RowSlice labeled(DenseMatrix b) {
    return new RowSlice(columns, rowStart, columnIndex, values, b.rows(), b.values(), first, last);
  }

  @Override
  public Iterator<SparseRow> iterator() {
    return rows(this::row);
  }

  private Iterator<SparseRow> rows(IntFunction<SparseRow> row) {
    return new Iterator<>() {
      private int next = first;

      @Override
      public boolean hasNext() {
        return next < last;
      }

      @Override
      public SparseRow next() {
        if (next >= last) {
          throw new NoSuchElementException();
        }
        return row.apply(next++);
      }
    };
  }

  /**
   * These rows for a reader that keeps none: each is valid until the next one is asked for, which
   * overwrites it if it has as many entries.
   */
  public Iterator<SparseRow> reusedRows() {
    var ofLength = new SparseRow[MOST_REUSED + 1];
    return rows(i -> reused(i, ofLength));
  }

  private SparseRow reused(int i, SparseRow[] ofLength) {
    int length = rowStart[i + 1] - rowStart[i];
    if (length > MOST_REUSED) {
      return row(i);
    }
    SparseRow r = ofLength[length];
    if (r == null) {
      r = row(i);
      ofLength[length] = r;
      return r;
    }
    System.arraycopy(columnIndex, rowStart[i], r.indices(), 0, length);
    System.arraycopy(values, rowStart[i], r.values(), 0, length);
    takeLabels(i, r.labels());
    return r;
  }

  private SparseRow row(int i) {
    double[] labels = new double[rhs.length / rhsRows];
    takeLabels(i, labels);
    int from = rowStart[i];
    int to = rowStart[i + 1];
    return new SparseRow(
        Arrays.copyOfRange(columnIndex, from, to),
        Arrays.copyOfRange(values, from, to),
        labels,
        1,
        columns);
  }

  private void takeLabels(int i, double[] labels) {
    for (int j = 0; j < labels.length; j++) {
      labels[j] = rhs[j * rhsRows + i];
    }
  }
}
