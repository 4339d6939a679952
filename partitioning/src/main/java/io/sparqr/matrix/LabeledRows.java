/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.matrix;

import io.sparqr.error.IndexOverflowException;
import io.sparqr.error.MatrixFormatException;
import io.sparqr.sparse.CsrMatrix;
import java.io.IOException;
import java.io.Serializable;
import java.util.Arrays;
import java.util.Locale;
import java.util.function.Supplier;

/** Collects the rows of a libsvm file or of a part of it. Not thread-safe. */
public final class LabeledRows {

  private static final int MOST = Integer.MAX_VALUE - 16;

  /** Bytes of a column in the driver's analysis, if the columns have entries, and at least. */
  private static final long COLUMN_BYTES = 165;

  private static final long LEAST_COLUMN_BYTES = 40;

  /** With fewer entries for each hundred columns, the indices are hardly those of columns. */
  private static final long COLUMNS_PER_ENTRY = 100;

  private int rows;
  private int[] start = new int[1 << 8];
  private int[] index = new int[1 << 10];
  private double[] value = new double[1 << 10];
  private double[] label = new double[1 << 8];
  private int least = Integer.MAX_VALUE;
  private int greatest = -1;
  private long zeroLine = -1;
  private long greatestLine = -1;

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
      zeroLine = zeroLine < 0 && least == 0 ? reader.line() : zeroLine;
      int last = index[used + length - 1];
      greatestLine = last > greatest ? reader.line() : greatestLine;
      greatest = Math.max(greatest, last);
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

  /**
   * What is known of a whole file before its rows become a matrix.
   *
   * @param least index, or the greatest int if there is none
   * @param zeroLine line of the first index 0, or -1
   * @param greatest index, or -1
   * @param greatestLine its first line, or -1
   * @param entries number of entries
   */
  public record Extent(int least, long zeroLine, int greatest, long greatestLine, long entries)
      implements Serializable {

    /**
     * n of the file.
     *
     * @throws MatrixFormatException if an index is 0 where they count from 1, or if it makes more
     *     columns than the memory can hold; the message names the line
     */
    public int columns(IndexBase base, String source) {
      if (base == IndexBase.ONE && least == 0) {
        throw new MatrixFormatException(
            source + ":" + zeroLine + ": index 0, but they count from 1 (--index-base 1)",
            source,
            zeroLine);
      }
      int n = Math.max(0, greatest + 1 - base.of(least));
      requireColumns(n, entries, () -> source + ":" + greatestLine + ": index " + greatest, source);
      return n;
    }
  }

  /**
   * Refuses a matrix whose columns alone do not fit the heap, by the index that makes them many: it
   * is hardly the number of a column.
   *
   * @param index its place and name
   */
  public static void requireColumns(int n, long entries, Supplier<String> index, String source) {
    long heap = Runtime.getRuntime().maxMemory();
    boolean empty = n > COLUMNS_PER_ENTRY * entries && n > heap / COLUMN_BYTES;
    if (empty || n > heap / LEAST_COLUMN_BYTES) {
      throw new MatrixFormatException(
          String.format(
              Locale.ROOT,
              "%s makes a matrix of %,d columns with %,d entries, too many for a heap of %,d MB: is"
                  + " it the number of a column?",
              index.get(),
              n,
              entries,
              heap >> 20),
          source,
          -1);
    }
  }

  /** What is known of the rows so far. */
  public Extent extent() {
    return new Extent(least, zeroLine, greatest, greatestLine, start[rows]);
  }

  /**
   * The rows as A and b. O(entries).
   *
   * @param columns n
   * @param base subtracted from every index
   */
  public LabeledMatrix toMatrix(int columns, int base) {
    return toMatrix(columns, base, "");
  }

  /** As above, with a note for the user. */
  LabeledMatrix toMatrix(int columns, int base, String note) {
    int used = start[rows];
    int[] trimmed = Arrays.copyOf(index, used);
    for (int k = 0; k < used && base > 0; k++) {
      trimmed[k] -= base;
    }
    return new LabeledMatrix(
        new CsrMatrix(
            rows, columns, Arrays.copyOf(start, rows + 1), trimmed, Arrays.copyOf(value, used)),
        Arrays.copyOf(label, rows),
        note);
  }
}
