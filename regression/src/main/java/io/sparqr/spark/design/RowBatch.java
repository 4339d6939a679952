/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.design;

import io.sparqr.matrix.GrowingRows;
import io.sparqr.spark.file.RowSlice;
import io.sparqr.spark.model.SparseRow;
import java.io.Serializable;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.spark.unsafe.types.UTF8String;
import org.jspecify.annotations.Nullable;

/**
 * Some rows of a design in a few arrays: kept in this form they take 12 bytes per entry, 20 per row
 * and 4 per key, half as much as row objects. Each distinct text of keys is stored once per batch.
 * The rows are a slice as those of files; keys stand beside it.
 */
final class RowBatch implements Serializable {

  private static final long serialVersionUID = 1;

  /** Number of rows of a batch. */
  static final int ROWS = 1 << 12;

  private final int columns;
  private int rows;
  private final int[][] key;
  private final String[][] text;
  private long @Nullable [] leftOut;

  /** There when all rows are added. */
  private @Nullable RowSlice slice;

  // In use only while rows are added.
  private transient List<Map<UTF8String, Integer>> known = new ArrayList<>();
  private transient GrowingRows added = new GrowingRows(1);
  private transient double[] weight = new double[ROWS];
  private final transient double[] label = new double[1];

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
    label[0] = y;
    added.add(indices, values, 0, count, label, 0);
    weight[rows++] = w;
  }

  /** Releases unused memory. */
  RowBatch trimmed() {
    slice = RowSlice.weighted(columns, added, weight);
    for (int k = 0; k < key.length; k++) {
      key[k] = Arrays.copyOf(key[k], rows);
      String[] texts = new String[known.get(k).size()];
      known.get(k).forEach((of, code) -> texts[code] = of.toString());
      text[k] = texts;
    }
    known = List.of();
    added = new GrowingRows(1, 0);
    weight = new double[0];
    return this;
  }

  /** The rows of a {@link #trimmed()} batch, each in separate arrays. */
  Iterator<SparseRow> iterator() {
    return Objects.requireNonNull(slice, "trimmed").iterator();
  }
}
