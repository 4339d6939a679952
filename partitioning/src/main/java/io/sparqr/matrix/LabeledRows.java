/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.matrix;

import io.sparqr.error.IndexOverflowException;
import io.sparqr.sparse.CsrMatrix;
import java.io.IOException;
import java.util.Arrays;

/** Collects the rows of a libsvm file or of a part of it. Not thread-safe. */
public final class LabeledRows {

  private static final int MOST = Integer.MAX_VALUE - 16;

  private int rows;
  private int[] start = new int[1 << 8];
  private int[] index = new int[1 << 10];
  private double[] value = new double[1 << 10];
  private double[] label = new double[1 << 8];
  private int least = Integer.MAX_VALUE;
  private int greatest = -1;

  /**
   * Reads the remaining rows of a reader.
   *
   * @throws io.sparqr.error.SparseQrException as the reader does; the rows before the error stay
   */
  public void addAll(LibsvmReader reader) throws IOException {
    while (reader.next()) {
      add(reader);
    }
  }

  private void add(LibsvmReader reader) {
    int length = reader.length();
    int used = start[rows];
    if (rows + 1 == start.length) {
      start = Arrays.copyOf(start, grown(start.length, rows + 2L));
      label = Arrays.copyOf(label, start.length);
    }
    if (length > index.length - used) {
      index = Arrays.copyOf(index, grown(index.length, (long) used + length));
      value = Arrays.copyOf(value, index.length);
    }
    System.arraycopy(reader.index(), 0, index, used, length);
    System.arraycopy(reader.value(), 0, value, used, length);
    label[rows] = reader.label();
    start[++rows] = used + length;
    if (length > 0) {
      least = Math.min(least, index[used]);
      greatest = Math.max(greatest, index[used + length - 1]);
    }
  }

  private static int grown(int capacity, long needed) {
    if (needed > MOST) {
      throw new IndexOverflowException(
          "more than " + MOST + " entries do not fit one JVM's arrays", "entries", needed);
    }
    return (int) Math.min(MOST, Math.max(needed, 2L * capacity));
  }

  /** Rows so far. */
  public int rows() {
    return rows;
  }

  /** Least index, or the greatest int if there is none. */
  public int least() {
    return least;
  }

  /** Greatest index, or -1. */
  public int greatest() {
    return greatest;
  }

  /** The base of a file's indices: 0 if a 0 occurs, else 1. */
  public static int base(int leastOfFile) {
    return leastOfFile == 0 ? 0 : 1;
  }

  /** n of a file. */
  public static int columns(int leastOfFile, int greatestOfFile) {
    return Math.max(0, greatestOfFile + 1 - base(leastOfFile));
  }

  /**
   * The rows as A and b. O(entries).
   *
   * @param columns n
   * @param base subtracted from every index
   */
  public LabeledMatrix toMatrix(int columns, int base) {
    int used = start[rows];
    int[] trimmed = Arrays.copyOf(index, used);
    for (int k = 0; k < used && base > 0; k++) {
      trimmed[k] -= base;
    }
    return new LabeledMatrix(
        new CsrMatrix(
            rows, columns, Arrays.copyOf(start, rows + 1), trimmed, Arrays.copyOf(value, used)),
        Arrays.copyOf(label, rows));
  }
}
