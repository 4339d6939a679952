/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.design;

import io.sparqr.spark.model.SparseRow;
import java.io.Serializable;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import org.apache.spark.unsafe.types.UTF8String;
import org.jspecify.annotations.Nullable;

/**
 * Some rows of a design in a few arrays: kept in this form they take 12 bytes per entry, 20 per row
 * and 4 per key, half as much as row objects. Each distinct text of keys is stored once per batch.
 * Keys are why it is not a slice of a file's rows, which has none, nor weights.
 */
final class RowBatch implements Serializable {

  private static final long serialVersionUID = 1;

  /** Number of rows of a batch. */
  static final int ROWS = 1 << 12;

  private final int columns;
  private int rows;
  private int[] end = new int[ROWS];
  private double[] label = new double[ROWS];
  private double[] weight = new double[ROWS];
  private final int[][] key;
  private final String[][] text;
  // In use only while rows are added.
  private transient List<Map<UTF8String, Integer>> known = new ArrayList<>();
  private int[] index = new int[ROWS];
  private double[] value = new double[ROWS];
  private long @Nullable [] leftOut;

  RowBatch(int columns, int keys) {
    this.columns = columns;
    this.key = new int[keys][ROWS];
    this.text = new String[keys][];
    for (int k = 0; k < keys; k++) {
      known.add(new HashMap<>());
    }
  }

  /** Notes what the partition of this batch, its last, leaves out. */
  void leaveOut(long[] counts) {
    leftOut = counts;
  }

  /** What the partition leaves out, in its last batch alone. */
  long @Nullable [] leftOut() {
    return leftOut;
  }

  /** Sets key k of the last row; the text may be overwritten afterwards. */
  void key(int k, UTF8String of) {
    Map<UTF8String, Integer> codes = known.get(k);
    Integer code = codes.get(of);
    if (code == null) {
      code = codes.size();
      codes.put(of.copy(), code);
    }
    key[k][rows - 1] = code;
  }

  /** Key k of each row of a {@link #trimmed()} batch. */
  List<String> keys(int k) {
    int[] codes = key[k];
    String[] texts = text[k];
    return new AbstractList<>() {
      @Override
      public String get(int row) {
        return texts[codes[row]];
      }

      @Override
      public int size() {
        return rows;
      }
    };
  }

  boolean full() {
    return rows == ROWS;
  }

  boolean empty() {
    return rows == 0;
  }

  /** Adds a row with the first count entries. */
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

  /** Releases unused memory. */
  RowBatch trimmed() {
    int entries = begin(rows);
    end = Arrays.copyOf(end, rows);
    label = Arrays.copyOf(label, rows);
    weight = Arrays.copyOf(weight, rows);
    for (int k = 0; k < key.length; k++) {
      key[k] = Arrays.copyOf(key[k], rows);
      String[] texts = new String[known.get(k).size()];
      known.get(k).forEach((of, code) -> texts[code] = of.toString());
      text[k] = texts;
    }
    known = List.of();
    index = Arrays.copyOf(index, entries);
    value = Arrays.copyOf(value, entries);
    return this;
  }

  /** The rows, each in separate arrays. */
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
