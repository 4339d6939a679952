/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.matrix;

import io.sparqr.error.IndexOverflowException;
import io.sparqr.error.MatrixFormatException;
import io.sparqr.error.NonFiniteValueException;
import io.sparqr.sparse.CsrMatrix;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A matrix in compressed columns or rows, as binary files hold it, checked and turned into
 * compressed rows. Entries at the same position are summed, stored zeros stay entries.
 *
 * @param source what messages call the file
 * @param byColumns compressed columns; otherwise rows
 */
record CompressedForm(String source, boolean byColumns, int rows, int columns) {

  private static final long ROWS_PER_ENTRY = 100;

  /** The relation of an entry to its mirror image; lines are unknown. */
  enum Mirror {
    NONE,
    EQUAL,
    NEGATED
  }

  /**
   * The matrix. O(m + n + entries).
   *
   * @param pointer size n+1 (or m+1); column j has the entries [pointer[j], pointer[j+1])
   * @param index rows (or columns) of the entries, 0-based
   * @param value the values, unless all are 1
   * @throws MatrixFormatException if pointers decrease or indices are out of range
   * @throws NonFiniteValueException at NaN or infinity
   */
  CsrMatrix matrix(int[] pointer, int[] index, double @Nullable [] value, Mirror mirror) {
    int outer = byColumns ? columns : rows;
    int inner = byColumns ? rows : columns;
    requirePointers(pointer, outer, index.length);
    if (value != null && value.length < pointer[outer]) {
      throw malformed(value.length + " values for " + pointer[outer] + " entries");
    }
    Triplets entries = new Triplets();
    SymmetricHalves halves = mirror == Mirror.NONE ? null : new SymmetricHalves();
    for (int p = 0; p < outer; p++) {
      for (int k = pointer[p]; k < pointer[p + 1]; k++) {
        if (index[k] < 0 || index[k] >= inner) {
          throw malformed(
              (byColumns ? "column " : "row ")
                  + p
                  + " has the index "
                  + index[k]
                  + ", which is not"
                  + " in 0.."
                  + (inner - 1));
        }
        int i = byColumns ? index[k] : p;
        int j = byColumns ? p : index[k];
        double v = value == null ? 1 : value[k];
        requireFinite(i, j, v);
        entries.add(i, j, v);
        if (halves != null && i != j) {
          entries.add(j, i, mirror == Mirror.NEGATED ? -v : v);
          halves.add(i, j, k);
        }
      }
    }
    if (halves != null) {
      halves.requireOne(source);
    }
    requireSizes(index.length);
    return entries.toCsr(rows, columns);
  }

  /** Entries (row, column, value) instead; the sizes of the arrays are equal. */
  CsrMatrix ofTriplets(int[] row, int[] column, double[] value) {
    if (row.length != column.length || row.length != value.length) {
      throw malformed(
          row.length + " rows, " + column.length + " columns and " + value.length + " values");
    }
    for (int k = 0; k < row.length; k++) {
      if (row[k] >= rows || column[k] >= columns) {
        throw malformed(
            "entry (" + row[k] + ", " + column[k] + ") of a " + rows + " x " + columns + " matrix");
      }
      requireFinite(row[k], column[k], value[k]);
    }
    requireSizes(row.length);
    Triplets entries = new Triplets();
    entries.addAll(row, column, value);
    return entries.toCsr(rows, columns);
  }

  /** The nonzeros of a dense matrix. */
  static CsrMatrix ofDense(DenseMatrix dense) {
    int m = dense.rows();
    Triplets entries = new Triplets();
    for (int i = 0; i < m; i++) {
      for (int j = 0; j < dense.columns(); j++) {
        double v = dense.values()[j * m + i];
        if (v != 0) {
          entries.add(i, j, v);
        }
      }
    }
    return entries.toCsr(m, dense.columns());
  }

  /** The matrix with its zeros, m x n. */
  static DenseMatrix toDense(CsrMatrix a, String source) {
    double[] values = new double[denseSize(a.rows(), a.columns(), source)];
    int m = a.rows();
    for (int i = 0; i < m; i++) {
      for (int k = a.rowStart()[i]; k < a.rowStart()[i + 1]; k++) {
        values[a.columnIndex()[k] * m + i] = a.values()[k];
      }
    }
    return new DenseMatrix(m, a.columns(), values);
  }

  private static int denseSize(long rows, long columns, String source) {
    long size = rows * columns;
    if (size > Integer.MAX_VALUE - 16) {
      throw new IndexOverflowException(
          source + ": " + rows + " x " + columns + " is too much for one dense array",
          "size",
          size);
    }
    return (int) size;
  }

  private void requirePointers(int[] pointer, int outer, int entries) {
    String which = byColumns ? "columns" : "rows";
    if (pointer.length != outer + 1 || pointer[0] != 0) {
      throw malformed(
          "the pointers to " + which + " must be " + (outer + 1L) + ", the first of them 0");
    }
    for (int p = 0; p < outer; p++) {
      if (pointer[p + 1] < pointer[p]) {
        throw malformed("the pointers to " + which + " decrease after number " + p);
      }
    }
    if (pointer[outer] > entries) {
      throw malformed("the pointers promise " + pointer[outer] + " entries, there are " + entries);
    }
  }

  /**
   * Refuses sizes that only a damaged header can have: next to no entries and little memory left.
   */
  private void requireSizes(long entries) {
    long heap = Runtime.getRuntime().maxMemory();
    long bytes = 8L * rows + 4L * columns;
    if (bytes > heap / 4 && (long) rows + columns > ROWS_PER_ENTRY * entries) {
      throw malformed(
          String.format(
              Locale.ROOT,
              "a matrix of %,d x %,d with %,d entries needs %,d MB, the heap has %,d: are the sizes"
                  + " right?",
              rows,
              columns,
              entries,
              bytes >> 20,
              heap >> 20));
    }
  }

  private void requireFinite(int i, int j, double v) {
    if (!Double.isFinite(v)) {
      throw new NonFiniteValueException(
          source + ": the value of row " + (i + 1) + ", column " + (j + 1) + " is not finite",
          i,
          j);
    }
  }

  private MatrixFormatException malformed(String what) {
    return new MatrixFormatException(source + ": " + what, source, -1);
  }
}
