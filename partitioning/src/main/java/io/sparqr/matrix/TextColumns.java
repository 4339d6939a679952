/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.matrix;

import io.sparqr.error.IndexOverflowException;
import io.sparqr.error.MatrixFormatException;
import io.sparqr.error.NonFiniteValueException;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.Locale;

/**
 * Reads right-hand sides from plain text, plain or gzip: a line for each row, with the same number
 * of numbers in each, separated by blanks, tabs, commas or semicolons. Empty lines and lines that
 * begin with # or % are left out; the first line may name the columns. Cost: one pass, 16 bytes a
 * number.
 */
public final class TextColumns {

  private static final int MOST = Integer.MAX_VALUE - 16;

  private final TextScanner in;
  private final String source;
  private char separator = ' ';
  private double[] values = new double[1 << 10];
  private int used;
  private int columns;

  private TextColumns(InputStream stream, String source) throws IOException {
    this.in = new TextScanner(stream, source);
    this.source = source;
  }

  /**
   * Reads a file; the stream stays open.
   *
   * @param source what messages call the file
   * @throws MatrixFormatException if a line has a word that is no number, or another number of
   *     columns than the first; the message names the line
   * @throws NonFiniteValueException at NaN, infinity or a number beyond the double range
   */
  public static DenseMatrix readDense(InputStream stream, String source) throws IOException {
    return new TextColumns(stream, source).read();
  }

  private DenseMatrix read() throws IOException {
    if (!content()) {
      throw new MatrixFormatException(source + ": no numbers", source, -1);
    }
    boolean more = true;
    if (isHeader(in.peekLine())) {
      in.skipLine();
      more = content();
    }
    if (more) {
      String first = in.peekLine();
      separator = first.indexOf(';') >= 0 ? ';' : first.indexOf(',') >= 0 ? ',' : ' ';
      if (separator != ' ') {
        in.separateBy(separator);
      }
    }
    int rows = 0;
    while (more) {
      line(rows++);
      in.skipLine();
      more = content();
    }
    if (rows == 0) {
      throw new MatrixFormatException(source + ": no numbers", source, -1);
    }
    double[] byColumns = new double[used];
    for (int i = 0; i < rows; i++) {
      for (int j = 0; j < columns; j++) {
        byColumns[j * rows + i] = values[i * columns + j];
      }
    }
    return new DenseMatrix(rows, columns, byColumns);
  }

  /** From the beginning of a line to the next with numbers. */
  private boolean content() throws IOException {
    while (in.nextContent('#')) {
      if (in.peek() != '%') {
        return true;
      }
      in.skipLine();
    }
    return false;
  }

  /** Whether the first line names columns: its first word does not begin as a number does. */
  private static boolean isHeader(String line) {
    String word = line.strip().toLowerCase(Locale.ROOT);
    return !word.matches("([-+]?\\.?\\d|[-+]?(nan|inf|infinity)\\s*([\\s,;].*)?$).*");
  }

  private void line(int row) throws IOException {
    int length = 0;
    while (length == 0 || !in.lineDone()) {
      if (length > 0 && separator != ' ') {
        if (!in.accept(separator)) {
          throw in.malformed("no '" + separator + "' after number " + length);
        }
      }
      double v = in.number("number");
      if (!Double.isFinite(v)) {
        throw new NonFiniteValueException(
            in.place()
                + ": the number in column "
                + (length + 1)
                + " is not finite (row "
                + (row + 1)
                + ")",
            row,
            length);
      }
      put(v);
      length++;
      if (row > 0 && length > columns) {
        break;
      }
    }
    if (row > 0 && length != columns) {
      throw in.malformed(
          (length > columns ? "more than " : length + " instead of ")
              + columns
              + " numbers, as many as in the first line");
    }
    columns = length;
  }

  private void put(double v) {
    if (used == values.length) {
      if (used == MOST) {
        throw new IndexOverflowException(
            source + ": more than " + MOST + " numbers do not fit one JVM's array", "size", used);
      }
      values = Arrays.copyOf(values, (int) Math.min(MOST, 2L * used));
    }
    values[used++] = v;
  }
}
