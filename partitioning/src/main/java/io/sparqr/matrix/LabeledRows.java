/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.matrix;

import io.sparqr.error.MatrixFormatException;
import io.sparqr.sparse.CsrMatrix;
import java.io.IOException;
import java.io.Serializable;
import java.util.Arrays;
import java.util.Locale;
import java.util.function.Supplier;

/** Collects the rows of a libsvm file or of a part of it. Not thread-safe. */
public final class LabeledRows {

  /** Bytes of a column in the driver's analysis, if the columns have entries, and at least. */
  private static final long COLUMN_BYTES = 165;

  private static final long LEAST_COLUMN_BYTES = 40;

  /** With fewer entries for each hundred columns, the indices are hardly those of columns. */
  private static final long COLUMNS_PER_ENTRY = 100;

  private final GrowingRows all = new GrowingRows(1);
  private final double[] label = new double[1];
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
    label[0] = reader.label();
    all.add(reader.index(), reader.value(), 0, length, label, 0);
    if (length > 0) {
      least = Math.min(least, reader.index()[0]);
      zeroLine = zeroLine < 0 && least == 0 ? reader.line() : zeroLine;
      int last = reader.index()[length - 1];
      greatestLine = last > greatest ? reader.line() : greatestLine;
      greatest = Math.max(greatest, last);
    }
  }

  /** Rows so far. */
  public int rows() {
    return all.count();
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
    return new Extent(least, zeroLine, greatest, greatestLine, all.entries());
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
    int rows = all.count();
    int used = all.entries();
    int[] trimmed = Arrays.copyOf(all.index(), used);
    for (int k = 0; k < used && base > 0; k++) {
      trimmed[k] -= base;
    }
    return new LabeledMatrix(
        new CsrMatrix(
            rows,
            columns,
            Arrays.copyOf(all.start(), rows + 1),
            trimmed,
            Arrays.copyOf(all.value(), used)),
        Arrays.copyOf(all.rhs(), rows),
        note);
  }
}
