/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.matrix;

import io.sparqr.error.IndexOverflowException;
import io.sparqr.error.NonFiniteValueException;
import io.sparqr.sparse.CsrMatrix;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;

/**
 * Reads Matrix Market files (Boisvert, Pozo, Remington 1996, NISTIR 5935): coordinate and array;
 * real, integer and pattern; general, symmetric and skew-symmetric; plain or gzip, whatever the
 * name. {@link MatrixMarketWriter} writes them.
 *
 * <p>What the format leaves open: banner words in any case; blank lines and comments anywhere after
 * the banner; entries of one place are summed; a pattern's entries are 1; stored zeros of a
 * coordinate file stay entries, zeros of an array file are none; in a symmetric file an entry above
 * the diagonal stands for its mirror image too; numbers of an array may share a line; Fortran's D
 * exponents are read.
 *
 * <p>Refused with the file and the line: a banner of something else (complex above all), too few or
 * too many entries, an index out of range (0-based files too), a word where a number should be,
 * words after an entry, NaN, infinity, a number beyond the double range. Cost: one pass, about 24
 * bytes an entry.
 */
public final class MatrixMarket {

  private enum Symmetry {
    GENERAL,
    SYMMETRIC,
    SKEW
  }

  private enum Field {
    REAL,
    INTEGER,
    PATTERN
  }

  private record Header(
      boolean coordinate,
      Field field,
      Symmetry symmetry,
      int rows,
      int columns,
      long entries,
      long line) {}

  private MatrixMarket() {}

  /**
   * Reads a file as a sparse matrix.
   *
   * @throws IOException if it cannot be opened or read
   * @throws io.sparqr.error.MatrixFormatException if it is malformed; the message names file and
   *     line
   * @throws NonFiniteValueException at NaN, infinity or a number beyond the double range
   */
  public static CsrMatrix readMatrix(Path file) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      return readMatrix(in, file.toString());
    }
  }

  /** {@link #readMatrix(Path)} from a stream, which stays open. */
  public static CsrMatrix readMatrix(InputStream in, String source) throws IOException {
    TextScanner scanner = new TextScanner(in, source);
    Header header = header(scanner);
    if (header.coordinate) {
      return coordinates(scanner, header).toCsr(header.rows, header.columns);
    }
    DenseMatrix dense = array(scanner, header);
    Triplets entries = new Triplets(dense.values().length);
    for (int i = 0; i < header.rows; i++) {
      for (int j = 0; j < header.columns; j++) {
        double v = dense.values()[j * header.rows + i];
        if (v != 0) {
          entries.add(i, j, v);
        }
      }
    }
    return entries.toCsr(header.rows, header.columns);
  }

  /**
   * Reads a file as an m x k dense matrix: right-hand sides. A coordinate file is filled up with
   * zeros. Errors as for {@link #readMatrix(Path)}.
   */
  public static DenseMatrix readDense(Path file) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      return readDense(in, file.toString());
    }
  }

  /** {@link #readDense(Path)} from a stream, which stays open. */
  public static DenseMatrix readDense(InputStream in, String source) throws IOException {
    TextScanner scanner = new TextScanner(in, source);
    Header header = header(scanner);
    if (!header.coordinate) {
      return array(scanner, header);
    }
    double[] values = new double[denseSize(header)];
    CsrMatrix sparse = coordinates(scanner, header).toCsr(header.rows, header.columns);
    for (int i = 0; i < header.rows; i++) {
      for (int k = sparse.rowStart()[i]; k < sparse.rowStart()[i + 1]; k++) {
        values[sparse.columnIndex()[k] * header.rows + i] = sparse.values()[k];
      }
    }
    return new DenseMatrix(header.rows, header.columns, values);
  }

  private static Header header(TextScanner in) throws IOException {
    if (in.done() || in.lineDone()) {
      throw in.malformed("no Matrix Market banner ('%%MatrixMarket matrix ...') in the first line");
    }
    String[] word = new String[5];
    for (int k = 0; k < 5; k++) {
      if (in.lineDone()) {
        throw in.malformed(
            k == 0
                ? "no Matrix Market banner"
                : "the banner needs '%%MatrixMarket matrix FORMAT FIELD SYMMETRY'");
      }
      word[k] = in.token().toLowerCase(Locale.ROOT);
      if (k == 0 && !word[0].equals("%%matrixmarket")) {
        throw in.malformed("no Matrix Market banner ('%%MatrixMarket matrix ...')");
      }
    }
    if (!in.lineDone()) {
      throw in.malformed("words after the banner");
    }
    if (!word[1].equals("matrix")) {
      throw in.malformed("object '" + word[1] + "' is not 'matrix'");
    }
    boolean coordinate = word[2].equals("coordinate");
    if (!coordinate && !word[2].equals("array")) {
      throw in.malformed("format '" + word[2] + "' is neither 'coordinate' nor 'array'");
    }
    Field field = field(in, word[3]);
    if (field == Field.PATTERN && !coordinate) {
      throw in.malformed("an array file cannot be a pattern");
    }
    Symmetry symmetry = symmetry(in, word[4]);
    if (field == Field.PATTERN && symmetry == Symmetry.SKEW) {
      throw in.malformed("a pattern cannot be skew-symmetric");
    }
    in.skipLine();
    return sizes(in, coordinate, field, symmetry);
  }

  private static Field field(TextScanner in, String word) {
    return switch (word) {
      case "real" -> Field.REAL;
      case "integer" -> Field.INTEGER;
      case "pattern" -> Field.PATTERN;
      case "complex" ->
          throw in.malformed("complex matrices are not supported (real, integer or pattern are)");
      default -> throw in.malformed("field '" + word + "' is none of 'real', 'integer', 'pattern'");
    };
  }

  private static Symmetry symmetry(TextScanner in, String word) {
    return switch (word) {
      case "general" -> Symmetry.GENERAL;
      case "symmetric" -> Symmetry.SYMMETRIC;
      case "skew-symmetric" -> Symmetry.SKEW;
      case "hermitian" ->
          throw in.malformed("hermitian matrices are not supported (complex ones are not)");
      default ->
          throw in.malformed(
              "symmetry '" + word + "' is none of 'general', 'symmetric', 'skew-symmetric'");
    };
  }

  private static Header sizes(TextScanner in, boolean coordinate, Field field, Symmetry symmetry)
      throws IOException {
    if (!in.nextContent('%')) {
      throw in.malformed("the file ends before the line of sizes");
    }
    long line = in.line();
    int rows = size(in, "number of rows");
    int columns = size(in, "number of columns");
    if (symmetry != Symmetry.GENERAL && rows != columns) {
      throw in.malformed("a symmetric matrix cannot be " + rows + " x " + columns);
    }
    long entries;
    if (coordinate) {
      entries = in.integer("number of entries", ' ');
      if (entries < 0) {
        throw in.malformed("number of entries " + entries + " is negative");
      }
    } else {
      long n = columns;
      entries =
          switch (symmetry) {
            case GENERAL -> rows * n;
            case SYMMETRIC -> n * (n + 1) / 2;
            case SKEW -> n * (n - 1) / 2;
          };
    }
    if (!in.lineDone()) {
      throw in.malformed("words after the sizes");
    }
    in.skipLine();
    return new Header(coordinate, field, symmetry, rows, columns, entries, line);
  }

  private static int size(TextScanner in, String what) throws IOException {
    long value = in.integer(what, ' ');
    if (value < 0) {
      throw in.malformed(what + " " + value + " is negative");
    }
    if (value > Integer.MAX_VALUE - 16) {
      throw new IndexOverflowException(
          in.place() + ": " + what + " " + value + " is beyond 2^31", what, value);
    }
    return (int) value;
  }

  private static Triplets coordinates(TextScanner in, Header header) throws IOException {
    boolean mirrored = header.symmetry != Symmetry.GENERAL;
    Triplets entries = new Triplets(mirrored ? 2 * header.entries : header.entries);
    for (long k = 0; k < header.entries; k++) {
      if (!in.nextContent('%')) {
        throw in.malformed("the file ends after " + k + " of " + header.entries + " entries");
      }
      int i = index(in, "row index", header.rows);
      int j = index(in, "column index", header.columns);
      double v = header.field == Field.PATTERN ? 1 : value(in, header, i, j);
      if (!in.lineDone()) {
        throw in.malformed("words after the entry");
      }
      in.skipLine();
      if (header.symmetry == Symmetry.SKEW && i == j) {
        throw in.malformed("a skew-symmetric matrix has no diagonal entry, here " + (i + 1));
      }
      entries.add(i, j, v);
      if (mirrored && i != j) {
        entries.add(j, i, header.symmetry == Symmetry.SKEW ? -v : v);
      }
    }
    requireEnd(in, header);
    return entries;
  }

  private static int index(TextScanner in, String what, int size) throws IOException {
    long value = in.integer(what, ' ');
    if (value < 1 || value > size) {
      throw in.malformed(
          what + " " + value + (size == 0 ? " in a matrix without any" : " is not in 1.." + size));
    }
    return (int) value - 1;
  }

  private static double value(TextScanner in, Header header, int i, int j) throws IOException {
    double v = in.number("number");
    if (!Double.isFinite(v)) {
      throw new NonFiniteValueException(
          in.place() + ": the value of row " + (i + 1) + ", column " + (j + 1) + " is not finite",
          i,
          j);
    }
    if (header.field == Field.INTEGER && v != Math.rint(v)) {
      throw in.malformed(v + " in a file of integers");
    }
    return v;
  }

  private static void requireEnd(TextScanner in, Header header) throws IOException {
    if (in.nextContent('%')) {
      throw in.malformed("more than the " + header.entries + " entries of line " + header.line);
    }
  }

  private static int denseSize(Header header) {
    long size = (long) header.rows * header.columns;
    if (size > Integer.MAX_VALUE - 16) {
      throw new IndexOverflowException(
          header.rows + " x " + header.columns + " is too much for one dense array", "size", size);
    }
    return (int) size;
  }

  private static DenseMatrix array(TextScanner in, Header header) throws IOException {
    int size = denseSize(header);
    int m = header.rows;
    // The promise of a truncated file must not take the memory: grow with what is there.
    double[] values = new double[Math.min(size, 1 << 20)];
    long read = 0;
    for (int j = 0; j < header.columns; j++) {
      int first = header.symmetry == Symmetry.GENERAL ? 0 : j;
      for (int i = header.symmetry == Symmetry.SKEW ? j + 1 : first; i < m; i++) {
        while (in.lineDone() || in.peek() == '%') {
          if (in.done()) {
            throw in.malformed(
                "the file ends after " + read + " of " + header.entries + " entries");
          }
          in.skipLine();
        }
        double v = value(in, header, i, j);
        read++;
        int at = j * m + i;
        if (at >= values.length) {
          values = Arrays.copyOf(values, (int) Math.min(size, Math.max(at + 1L, 2L * at)));
        }
        values[at] = v;
      }
    }
    requireEnd(in, header);
    values = values.length == size ? values : Arrays.copyOf(values, size);
    if (header.symmetry != Symmetry.GENERAL) {
      mirror(values, m, header.symmetry == Symmetry.SKEW ? -1 : 1);
    }
    return new DenseMatrix(m, header.columns, values);
  }

  private static void mirror(double[] values, int n, int sign) {
    for (int j = 0; j < n; j++) {
      for (int i = j + 1; i < n; i++) {
        values[i * n + j] = sign * values[j * n + i];
      }
    }
  }
}
