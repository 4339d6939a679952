/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.matrix;

import io.sparqr.error.MatrixFormatException;
import io.sparqr.error.NonFiniteValueException;
import io.sparqr.sparse.CsrMatrix;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * Reads libsvm files: a row a line, {@code label index:value index:value ...}, the labels being b.
 * Plain or gzip. Blank lines and everything from {@code #} on are left out. Indices count from 1; a
 * file that has an index 0 anywhere counts from 0 throughout. They may come in any order within a
 * line, but none twice. n is the greatest index.
 */
public final class Libsvm {

  private Libsvm() {}

  /**
   * Reads a file.
   *
   * @throws IOException if it cannot be opened or read
   * @throws MatrixFormatException if it is malformed; the message names file and line
   * @throws NonFiniteValueException at NaN, infinity or a number beyond the double range
   */
  public static LabeledMatrix read(Path file) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      return read(in, file.toString());
    }
  }

  /** {@link #read(Path)} from a stream, which stays open. */
  public static LabeledMatrix read(InputStream in, String source) throws IOException {
    TextScanner scanner = new TextScanner(in, source);
    Triplets entries = new Triplets(1 << 16);
    double[] labels = new double[1 << 10];
    int[] indices = new int[64];
    int rows = 0;
    int least = Integer.MAX_VALUE;
    int greatest = -1;
    while (scanner.nextContent('#')) {
      if (rows == labels.length) {
        labels = Arrays.copyOf(labels, 2 * rows);
      }
      int length = 0;
      labels[rows] = finite(scanner, scanner.number("label"), rows, -1);
      while (!scanner.lineDone() && scanner.peek() != '#') {
        long index = scanner.integer("index", ':');
        if (!scanner.accept(':')) {
          throw scanner.malformed("index " + index + " without ':' and a value");
        }
        if (index < 0 || index > Integer.MAX_VALUE - 16) {
          throw scanner.malformed("index " + index + " is not in 0..2^31");
        }
        int j = (int) index;
        indices = length < indices.length ? indices : Arrays.copyOf(indices, 2 * length);
        indices[length++] = j;
        entries.add(rows, j, finite(scanner, scanner.number("value"), rows, j));
        least = Math.min(least, j);
        greatest = Math.max(greatest, j);
      }
      requireDistinct(scanner, indices, length);
      scanner.skipLine();
      rows++;
    }
    int base = least == 0 ? 0 : 1;
    CsrMatrix a = entries.toCsr(rows, greatest + 1);
    return new LabeledMatrix(shifted(a, base), Arrays.copyOf(labels, rows));
  }

  private static void requireDistinct(TextScanner in, int[] indices, int length) {
    boolean ascending = true;
    for (int k = 1; k < length && ascending; k++) {
      ascending = indices[k] > indices[k - 1];
    }
    if (ascending) {
      return;
    }
    Arrays.sort(indices, 0, length);
    for (int k = 1; k < length; k++) {
      if (indices[k] == indices[k - 1]) {
        throw in.malformed("index " + indices[k] + " comes twice");
      }
    }
  }

  /** The matrix without its first {@code base} columns, which are empty. */
  private static CsrMatrix shifted(CsrMatrix a, int base) {
    if (base == 0 || a.columns() == 0) {
      return a;
    }
    int[] index = a.columnIndex();
    for (int k = 0; k < a.nonzeros(); k++) {
      index[k] -= base;
    }
    return new CsrMatrix(a.rows(), a.columns() - base, a.rowStart(), index, a.values());
  }

  private static double finite(TextScanner in, double value, int row, int index) {
    if (Double.isFinite(value)) {
      return value;
    }
    String what = index < 0 ? "the label" : "the value of index " + index;
    throw new NonFiniteValueException(
        in.place() + ": " + what + " is not finite (row " + (row + 1) + ")", row, index);
  }
}
