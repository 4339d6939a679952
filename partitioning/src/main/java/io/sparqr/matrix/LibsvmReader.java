/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.matrix;

import io.sparqr.error.NonFiniteValueException;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;

/**
 * The rows of a libsvm file, one after the other. A reader covers the whole file or a part of it;
 * readers of adjacent parts return every row exactly once. Indices are as in the file: only the
 * whole file shows whether they count from 0 or from 1. Errors name the file and the line. Not
 * thread-safe.
 */
public final class LibsvmReader {

  private static final int MOST = Integer.MAX_VALUE - 16;

  private final TextScanner in;
  private final long firstLine;
  private long row;
  private long line;
  private double label;
  private int length;
  private int[] index = new int[64];
  private double[] value = new double[64];
  private long[] key = new long[0];

  /** Reads all rows. */
  LibsvmReader(TextScanner in) {
    this.in = in;
    this.firstLine = in.line();
    this.row = -1;
  }

  /**
   * Reads the rows on lines that begin in the bytes [begin, end) of an uncompressed file.
   *
   * @param stream positioned at byte max(0, begin - 1); stays open
   * @param firstLine number of the first such line
   * @param before number of rows before begin
   */
  public LibsvmReader(
      InputStream stream, String source, long begin, long end, long firstLine, long before)
      throws IOException {
    this.in = new TextScanner(stream, source, begin, end, firstLine);
    this.firstLine = firstLine;
    this.row = before - 1;
  }

  /**
   * Takes the next row; false if there is none.
   *
   * @throws io.sparqr.error.MatrixFormatException at a malformed line or an index that comes twice
   * @throws NonFiniteValueException at NaN, infinity or a number beyond the double range
   */
  public boolean next() throws IOException {
    if (!in.nextContent('#')) {
      return false;
    }
    row++;
    line = in.line();
    length = 0;
    label = finite(in.number("label"), -1);
    if (!in.lineDone() && in.accept("qid:")) {
      in.integer("qid", ' ');
    }
    while (!in.lineDone() && in.peek() != '#') {
      long j = in.integer("index", ':');
      if (!in.accept(':')) {
        throw in.malformed("index " + j + " without ':' and a value");
      }
      if (j < 0 || j > MOST) {
        throw in.malformed("index " + j + " is not in 0.." + MOST);
      }
      if (length == index.length) {
        index = Arrays.copyOf(index, 2 * length);
        value = Arrays.copyOf(value, 2 * length);
      }
      index[length] = (int) j;
      value[length++] = finite(in.number("value"), (int) j);
    }
    sort();
    in.skipLine();
    return true;
  }

  private void sort() {
    boolean ascending = true;
    for (int k = 1; k < length && ascending; k++) {
      ascending = index[k] > index[k - 1];
    }
    if (ascending) {
      return;
    }
    key = key.length < length ? new long[index.length] : key;
    for (int k = 0; k < length; k++) {
      key[k] = (long) index[k] << 32 | k;
    }
    Arrays.sort(key, 0, length);
    double[] sorted = new double[value.length];
    for (int k = 0; k < length; k++) {
      index[k] = (int) (key[k] >>> 32);
      sorted[k] = value[(int) key[k]];
      if (k > 0 && index[k] == index[k - 1]) {
        throw in.malformed("index " + index[k] + " comes twice");
      }
    }
    value = sorted;
  }

  private double finite(double v, int j) {
    if (Double.isFinite(v)) {
      return v;
    }
    String what = j < 0 ? "the label" : "the value of index " + j;
    throw new NonFiniteValueException(
        in.place() + ": " + what + " is not finite (row " + (row + 1) + ")", row, j);
  }

  /** Line of the row. */
  public long line() {
    return line;
  }

  /** The row's label. */
  public double label() {
    return label;
  }

  /** Entries of the row. */
  public int length() {
    return length;
  }

  /** Indices [0, length), ascending, as the file counts them; overwritten by the next row. */
  public int[] index() {
    return index;
  }

  /** Values [0, length). */
  public double[] value() {
    return value;
  }

  /** Line feeds passed so far. */
  public long lines() {
    return in.line() - firstLine;
  }
}
