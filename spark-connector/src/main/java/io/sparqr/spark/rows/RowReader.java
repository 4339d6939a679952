/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.rows;

import io.sparqr.error.DimensionMismatchException;
import io.sparqr.error.MatrixFormatException;
import io.sparqr.error.NonFiniteValueException;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.plan.Fingerprint;

/**
 * Checks the rows of one partition, one after the other, and copies each to separate arrays:
 * indices ascending, without stored zeros, values and labels times sqrt(weight). Every reading of
 * the input uses this class, so that all {@link Fingerprint}s follow the same rule. Not
 * thread-safe; the next row overwrites the arrays.
 */
public final class RowReader {

  private final int partition;
  private final int declaredColumns;
  private long position = -1;
  private int columns = -1;
  private int count;
  private int[] index = new int[16];
  private double[] value = new double[16];
  private double scale;
  private boolean weightsLabels = true;
  private final RhsReader rhs;
  private final Fingerprint.Builder fingerprint = new Fingerprint.Builder();

  /**
   * A reader for a partition.
   *
   * @param declaredColumns n, or -1 to take it from the rows
   */
  public RowReader(int partition, int declaredColumns) {
    this.partition = partition;
    this.declaredColumns = declaredColumns;
    this.rhs = new RhsReader(partition);
  }

  /** The labels are vectors of the weighted rows already: they are read as they are. */
  void keepLabels() {
    weightsLabels = false;
  }

  /**
   * Reads a row.
   *
   * @return false if its weight is 0, so that it is to be ignored
   * @throws io.sparqr.error.SparseQrException naming partition, position and column
   */
  public boolean read(SparseRow row) {
    position++;
    if (row == null) {
      throw bad("null", "row");
    }
    double w = row.weight();
    if (!Double.isFinite(w)) {
      throw new NonFiniteValueException(where() + ": weight " + w, position, -1);
    }
    if (w < 0) {
      throw bad("negative weight " + w, "weight");
    }
    checkSizes(row);
    scale = Math.sqrt(w);
    rhs.read(row.labels(), weightsLabels ? scale : 1, position);
    copyEntries(row, scale);
    if (w > 0) {
      fingerprint.add(index, value, count, w, rhs.rhs());
    }
    return w > 0;
  }

  private void checkSizes(SparseRow row) {
    int size = row.columns();
    if (size >= 0) {
      int expected = declaredColumns >= 0 ? declaredColumns : columns;
      if (expected >= 0 && size != expected) {
        throw new DimensionMismatchException(
            where() + " has " + size + " columns, expected " + expected, "columns", expected, size);
      }
      columns = size;
    }
    rhs.check(row.labels(), position);
  }

  private void copyEntries(SparseRow row, double scale) {
    int[] from = row.indices();
    double[] values = row.values();
    if (from.length > index.length) {
      index = new int[Math.max(from.length, 2 * index.length)];
      value = new double[index.length];
    }
    int limit = declaredColumns >= 0 ? declaredColumns : columns >= 0 ? columns : Integer.MAX_VALUE;
    boolean ascending = true;
    count = 0;
    for (int k = 0; k < from.length; k++) {
      int j = from[k];
      double v = values[k];
      if (j < 0 || j >= limit) {
        throw bad("column index " + j + " out of range [0, " + limit + ")", "column index");
      }
      if (!Double.isFinite(v)) {
        throw new NonFiniteValueException(where() + ", column " + j + ": " + v, position, j);
      }
      ascending &= k == 0 || j > from[k - 1];
      index[count] = j;
      value[count] = v * scale;
      if (Double.isInfinite(value[count++])) {
        throw new NonFiniteValueException(
            "%s, column %d: %s times the root of the row's weight overflows"
                .formatted(where(), j, v),
            position,
            j);
      }
    }
    if (!ascending) {
      SortedPairs.sort(index, value, count);
      for (int k = 1; k < count; k++) {
        if (index[k] == index[k - 1]) {
          throw bad("column " + index[k] + " appears twice", "column index");
        }
      }
    }
    dropZeros();
  }

  private void dropZeros() {
    int kept = 0;
    for (int k = 0; k < count; k++) {
      if (value[k] != 0) {
        index[kept] = index[k];
        value[kept++] = value[k];
      }
    }
    count = kept;
  }

  /** Takes the entries [from, from + length) of a row that was read before. */
  void take(int[] indices, double[] values, int from, int length) {
    if (length > index.length) {
      index = new int[Math.max(length, 2 * index.length)];
      value = new double[index.length];
    }
    System.arraycopy(indices, from, index, 0, length);
    System.arraycopy(values, from, value, 0, length);
    count = length;
  }

  /** Takes the right-hand sides of that row. */
  void takeRhs(double[] values, int from, int width) {
    rhs.take(values, from, width);
  }

  private String where() {
    return InputPlace.of(position, partition);
  }

  private MatrixFormatException bad(String what, String kind) {
    return new MatrixFormatException(
        where() + ": " + what, "partition " + partition + ", " + kind, position);
  }

  /** Fingerprint of the rows of positive weight so far. */
  public Fingerprint fingerprint() {
    return fingerprint.fingerprint();
  }

  /** Number of entries of the row. */
  public int count() {
    return count;
  }

  /** Column indices [0, count). */
  public int[] index() {
    return index;
  }

  /** Values [0, count). */
  public double[] value() {
    return value;
  }

  /** Right-hand sides. */
  public double[] rhs() {
    return rhs.rhs();
  }

  /** The square root of the row's weight. */
  public double scale() {
    return scale;
  }

  /** The row's number in the partition, rows of weight 0 included. */
  public long position() {
    return position;
  }

  /** Number of right-hand sides per row, or -1 before the first row. */
  public int rhsCount() {
    return rhs.count();
  }

  /** n as shown by the rows, or -1. */
  public int columns() {
    return columns;
  }
}
