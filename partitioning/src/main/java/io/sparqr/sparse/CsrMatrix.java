/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.sparse;

import java.util.Objects;

/**
 * An m x n sparse matrix in compressed rows, in one JVM: the result of readers and generators and
 * the reference of tests. Row i has the entries {@code rowStart[i] .. rowStart[i+1]}, column
 * indices strictly ascending. Arrays are shared, not copied.
 *
 * @param rows m
 * @param columns n
 * @param rowStart size m+1; offsets
 * @param columnIndex size rowStart[m]; in [0, n)
 * @param values size rowStart[m]
 */
public record CsrMatrix(int rows, int columns, int[] rowStart, int[] columnIndex, double[] values) {

  /** Checks sizes in O(1). */
  public CsrMatrix {
    Objects.requireNonNull(columnIndex, "columnIndex");
    if (rows < 0 || columns < 0 || rowStart.length != rows + 1 || rowStart[0] != 0) {
      throw new IllegalArgumentException("inconsistent sizes of a CSR matrix");
    }
    if (columnIndex.length < rowStart[rows] || values.length < rowStart[rows]) {
      throw new IllegalArgumentException("fewer entries than rowStart promises");
    }
  }

  /** Number of stored entries. */
  public int nonzeros() {
    return rowStart[rows];
  }

  /** The pattern, one row pattern a row (multiplicity 1, not made distinct). O(nnz). */
  public SparsityPattern pattern() {
    long[] start = new long[rows + 1];
    long[] one = new long[rows];
    for (int i = 0; i < rows; i++) {
      start[i + 1] = rowStart[i + 1];
      one[i] = 1;
    }
    int[] index =
        columnIndex.length == rowStart[rows]
            ? columnIndex
            : java.util.Arrays.copyOf(columnIndex, rowStart[rows]);
    return new SparsityPattern(columns, start, index, one);
  }

  /** The transpose, rows ascending in column order. O(nnz + m + n). */
  public CsrMatrix transpose() {
    int nz = nonzeros();
    int[] start = new int[columns + 1];
    for (int k = 0; k < nz; k++) {
      start[columnIndex[k] + 1]++;
    }
    for (int j = 0; j < columns; j++) {
      start[j + 1] += start[j];
    }
    int[] next = start.clone();
    int[] index = new int[nz];
    double[] value = new double[nz];
    for (int i = 0; i < rows; i++) {
      for (int k = rowStart[i]; k < rowStart[i + 1]; k++) {
        int q = next[columnIndex[k]]++;
        index[q] = i;
        value[q] = values[k];
      }
    }
    return new CsrMatrix(columns, rows, start, index, value);
  }

  /** y = A x. x has n entries, y has m. */
  public double[] multiply(double[] x) {
    double[] y = new double[rows];
    for (int i = 0; i < rows; i++) {
      double sum = 0;
      for (int k = rowStart[i]; k < rowStart[i + 1]; k++) {
        sum += values[k] * x[columnIndex[k]];
      }
      y[i] = sum;
    }
    return y;
  }

  /** x = A' y. y has m entries, x has n. */
  public double[] multiplyTransposed(double[] y) {
    double[] x = new double[columns];
    for (int i = 0; i < rows; i++) {
      for (int k = rowStart[i]; k < rowStart[i + 1]; k++) {
        x[columnIndex[k]] += values[k] * y[i];
      }
    }
    return x;
  }
}
