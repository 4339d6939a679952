/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.arrays;

import io.sparqr.error.MatrixFormatException;
import io.sparqr.spark.model.SparseRow;
import java.util.Iterator;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;

/** Consecutive rows, read sequentially from their arrays, which are closed at the end. */
final class RowIterator implements Iterator<SparseRow>, AutoCloseable {

  private final int columns;
  private final int rhs;
  private final Sources sources;
  private long left;
  private long start;

  /** The arrays from the first row on; there may be no labels and no weights. */
  record Sources(
      Numbers starts,
      Numbers indices,
      Numbers data,
      @Nullable Numbers labels,
      @Nullable Numbers weights) {
    void close() {
      for (Numbers n : new Numbers[] {starts, indices, data, labels, weights}) {
        if (n != null) {
          n.close();
        }
      }
    }
  }

  /** Without labels every row has the label 0. */
  RowIterator(int columns, int rhs, long rows, Sources sources) {
    this.columns = columns;
    this.rhs = rhs;
    this.sources = sources;
    this.left = rows;
    this.start = sources.starts.nextLong();
  }

  /** The rows [first, last) of a folder. */
  static RowIterator of(ArrayFolder a, long first, long last) {
    Numbers starts = Numbers.of(a.file(ArrayFolder.INDPTR), first * Long.BYTES);
    long from = starts.nextLong();
    starts.close();
    long row = (long) a.rhs() * Double.BYTES;
    var sources =
        new Sources(
            Numbers.of(a.file(ArrayFolder.INDPTR), first * Long.BYTES),
            Numbers.of(a.file(ArrayFolder.INDICES), from * Integer.BYTES),
            Numbers.of(a.file(ArrayFolder.DATA), from * Double.BYTES),
            a.rhs() == 0 ? null : Numbers.of(a.file(ArrayFolder.LABELS), first * row),
            a.weighted() ? Numbers.of(a.file(ArrayFolder.WEIGHTS), first * Double.BYTES) : null);
    return new RowIterator(a.columns(), a.rhs(), last - first, sources);
  }

  @Override
  public boolean hasNext() {
    if (left == 0) {
      close();
    }
    return left > 0;
  }

  @Override
  public SparseRow next() {
    if (left == 0) {
      throw new NoSuchElementException();
    }
    left--;
    long end = sources.starts.nextLong();
    long count = end - start;
    if (count < 0 || count > columns) {
      throw new MatrixFormatException(
          "a row of " + count + " entries in " + columns + " columns", ArrayFolder.INDPTR, -1);
    }
    start = end;
    int[] index = new int[(int) count];
    double[] value = new double[index.length];
    double[] label = new double[Math.max(1, rhs)];
    sources.indices.ints(index);
    sources.data.doubles(value);
    if (sources.labels != null) {
      sources.labels.doubles(label);
    }
    double weight = sources.weights == null ? 1 : sources.weights.nextDouble();
    return new SparseRow(index, value, label, weight, columns);
  }

  @Override
  public void close() {
    sources.close();
  }
}
