/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.tall;

import io.sparqr.error.DimensionMismatchException;
import io.sparqr.error.MatrixFormatException;
import io.sparqr.error.NonFiniteValueException;
import io.sparqr.numeric.BitChecksum;
import io.sparqr.spark.model.SparseRow;
import java.util.BitSet;
import java.util.Iterator;
import org.apache.spark.ml.linalg.Vector;

/**
 * The rows of a partition as arrays: {@code double[]}, vectors of both packages of MLlib, or {@link
 * SparseRow}s that say how many columns they have. Checks that they are of one length and finite.
 */
final class DenseRows implements Iterator<double[]> {

  private final int partition;
  private final Iterator<?> elements;
  private long count;
  private long checksum;
  private int columns = -1;

  DenseRows(int partition, Iterator<?> elements) {
    this.partition = partition;
    this.elements = elements;
  }

  @Override
  public boolean hasNext() {
    return elements.hasNext();
  }

  /** The next row; an array that belongs to the caller's data may be returned as it is. */
  @Override
  public double[] next() {
    double[] row = array(elements.next());
    if (columns < 0) {
      columns = row.length;
      if (columns == 0) {
        throw new MatrixFormatException(where() + " has no columns", "input", count);
      }
    }
    if (row.length != columns) {
      throw new DimensionMismatchException(
          "%s has %d values, those before it %d".formatted(where(), row.length, columns),
          "columns",
          columns,
          row.length);
    }
    for (int k = 0; k < columns; k++) {
      if (!Double.isFinite(row[k])) {
        throw new NonFiniteValueException(
            "%s has %s in column %d".formatted(where(), row[k], k), count, k);
      }
      // the place counts: rows in another order are other rows
      checksum += BitChecksum.mixed(row[k]) * (2 * (count * columns + k) + 1);
    }
    count++;
    return row;
  }

  private double[] array(Object element) {
    if (element instanceof double[] values) {
      return values;
    }
    if (element instanceof Vector v) {
      return v.toArray();
    }
    if (element instanceof org.apache.spark.mllib.linalg.Vector v) {
      return v.toArray();
    }
    if (element instanceof SparseRow row && row.columns() >= 0) {
      return dense(row);
    }
    throw new MatrixFormatException(
        "%s is %s: rows are double[], vectors, or sparse rows that say how many columns they have"
            .formatted(where(), element == null ? "null" : "a " + element.getClass().getName()),
        "input",
        count);
  }

  private double[] dense(SparseRow row) {
    if (row.weight() != 1) {
      throw new MatrixFormatException(
          "%s has weight %s: weights are not taken here".formatted(where(), row.weight()),
          "input",
          count);
    }
    double[] values = new double[row.columns()];
    var seen = new BitSet(values.length);
    for (int k = 0; k < row.indices().length; k++) {
      int j = row.indices()[k];
      if (j < 0 || j >= values.length || seen.get(j)) {
        throw new MatrixFormatException(
            "%s: column index %d %s"
                .formatted(
                    where(),
                    j,
                    j >= 0 && j < values.length
                        ? "repeats"
                        : "out of range [0, " + values.length + ")"),
            "input",
            count);
      }
      seen.set(j);
      values[j] = row.values()[k];
    }
    return values;
  }

  private String where() {
    return "row %d of partition %d".formatted(count, partition);
  }

  /** Rows so far. */
  long count() {
    return count;
  }

  /** Of the bits and places of all values so far. */
  long checksum() {
    return checksum;
  }

  /** Columns; -1 before the first row. */
  int columns() {
    return columns;
  }
}
