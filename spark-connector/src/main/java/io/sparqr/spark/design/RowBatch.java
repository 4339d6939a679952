/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.design;

import io.sparqr.spark.SparseRow;
import java.io.Serializable;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;

/**
 * Some rows of a design in a few arrays: what is kept of them takes 12 bytes an entry and 20 a row,
 * half of what rows as objects take.
 */
final class RowBatch implements Serializable {

  private static final long serialVersionUID = 1;

  /** Rows of a batch. */
  static final int ROWS = 1 << 12;

  private final int columns;
  private int rows;
  private int[] end = new int[ROWS];
  private double[] label = new double[ROWS];
  private double[] weight = new double[ROWS];
  private final String[][] key;
  private int[] index = new int[ROWS];
  private double[] value = new double[ROWS];

  RowBatch(int columns, int keys) {
    this.columns = columns;
    this.key = new String[keys][ROWS];
  }

  int rows() {
    return rows;
  }

  /** Key k of the last row. */
  void key(int k, String text) {
    key[k][rows - 1] = text;
  }

  /** Key k of each row. */
  List<String> keys(int k) {
    return Arrays.asList(key[k]).subList(0, rows);
  }

  boolean full() {
    return rows == ROWS;
  }

  boolean empty() {
    return rows == 0;
  }

  /** Adds a row of entries [0, count). */
  void add(int[] indices, double[] values, int count, double y, double w) {
    int from = begin(rows);
    if (from + count > index.length) {
      int length = Math.max(from + count, 2 * index.length);
      index = Arrays.copyOf(index, length);
      value = Arrays.copyOf(value, length);
    }
    System.arraycopy(indices, 0, index, from, count);
    System.arraycopy(values, 0, value, from, count);
    end[rows] = from + count;
    label[rows] = y;
    weight[rows++] = w;
  }

  private int begin(int row) {
    return row == 0 ? 0 : end[row - 1];
  }

  /** Lets go of what is not used. */
  RowBatch trimmed() {
    int entries = begin(rows);
    end = Arrays.copyOf(end, rows);
    label = Arrays.copyOf(label, rows);
    weight = Arrays.copyOf(weight, rows);
    for (int k = 0; k < key.length; k++) {
      key[k] = Arrays.copyOf(key[k], rows);
    }
    index = Arrays.copyOf(index, entries);
    value = Arrays.copyOf(value, entries);
    return this;
  }

  /** The rows, each in arrays of its own. */
  Iterator<SparseRow> iterator() {
    return new Iterator<>() {
      private int next;

      @Override
      public boolean hasNext() {
        return next < rows;
      }

      @Override
      public SparseRow next() {
        if (next == rows) {
          throw new NoSuchElementException("the batch has no more rows");
        }
        int from = begin(next);
        int to = end[next];
        double[] labels = {label[next]};
        double w = weight[next++];
        return new SparseRow(
            Arrays.copyOfRange(index, from, to),
            Arrays.copyOfRange(value, from, to),
            labels,
            w,
            columns);
      }
    };
  }
}
