/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.matrix;

import io.sparqr.error.IndexOverflowException;
import io.sparqr.error.MatrixFormatException;
import java.io.IOException;
import java.io.InputStream;
import java.io.Serializable;
import java.util.Locale;
import java.util.Set;

/**
 * Banner and sizes of a Matrix Market file.
 *
 * @param rows m; under 2^31 in an array
 * @param columns n
 * @param entries declared by the file (for an array: implied by its size)
 * @param line of the sizes, 1-based
 * @param nextLine first line of entries
 * @param end offset of the first byte after the line of sizes, in the uncompressed text
 */
public record MatrixMarketHeader(
    Format format, long rows, int columns, long entries, long line, long nextLine, long end)
    implements Serializable {

  private static final int MOST = Integer.MAX_VALUE - 16;

  /** First words of a banner; the one with a single % is of older programs. */
  private static final Set<String> BANNERS = Set.of("%%matrixmarket", "%matrixmarket");

  /**
   * What the entries are.
   *
   * @param coordinate entries (row, column, value); otherwise an array, dense and column by column
   * @param vector entries (row, value) of a single column: a vector in coordinates
   */
  public record Format(boolean coordinate, boolean vector, Field field, Symmetry symmetry)
      implements Serializable {

    /** A copy that is a vector in coordinates, or not. */
    private Format withVector(boolean is) {
      return new Format(coordinate, is, field, symmetry);
    }
  }

  /** The type of the values. */
  public enum Field {
    /** Decimal numbers. */
    REAL,
    /** Whole numbers. */
    INTEGER,
    /** No values: every entry is 1. */
    PATTERN
  }

  /** The relation of an entry to its mirror image. */
  public enum Symmetry {
    /** Every entry stands for itself alone. */
    GENERAL,
    /** An entry stands for its mirror image, too. */
    SYMMETRIC,
    /** An entry stands for its mirror image with the opposite sign, too. */
    SKEW
  }

  /**
   * Reads the header of a file, plain or gzip. The stream is read past the header, and stays open.
   *
   * @param source what messages call the file
   * @throws MatrixFormatException if it is malformed; the message names source and line
   * @throws IndexOverflowException at 2^31 columns or more
   */
  public static MatrixMarketHeader read(InputStream in, String source) throws IOException {
    return read(new TextScanner(in, source));
  }

  static MatrixMarketHeader read(TextScanner in) throws IOException {
    Format banner = banner(in);
    in.skipLine();
    return sizes(in, banner);
  }

  /** The first line. Whether a vector's entries have no column is only known from the sizes. */
  private static Format banner(TextScanner in) throws IOException {
    if (in.done() || in.lineDone()) {
      throw in.malformed("no Matrix Market banner ('%%MatrixMarket matrix ...') in the first line");
    }
    String[] word = new String[5];
    int words = 0;
    while (words < word.length && !in.lineDone()) {
      word[words++] = in.token().toLowerCase(Locale.ROOT);
    }
    if (!BANNERS.contains(word[0])) {
      throw in.malformed("no Matrix Market banner ('%%MatrixMarket matrix ...')");
    }
    boolean vector = words > 1 && word[1].equals("vector");
    // A vector has no symmetry, so some programs write none.
    if (vector && words == 4) {
      word[words++] = "general";
    }
    if (words < word.length) {
      throw in.malformed("the banner needs '%%MatrixMarket matrix FORMAT FIELD SYMMETRY'");
    }
    if (!in.lineDone()) {
      throw in.malformed("words after the banner");
    }
    if (!vector && !word[1].equals("matrix")) {
      throw in.malformed("object '" + word[1] + "' is neither 'matrix' nor 'vector'");
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
    if (vector && symmetry != Symmetry.GENERAL) {
      throw in.malformed("a vector cannot be " + word[4]);
    }
    return new Format(coordinate, vector, field, symmetry);
  }

  private static Field field(TextScanner in, String word) {
    return switch (word) {
      case "real" -> Field.REAL;
      case "integer", "unsigned-integer" -> Field.INTEGER;
      case "pattern" -> Field.PATTERN;
      case "complex" ->
          throw in.malformed("complex matrices are not supported (real, integer or pattern are)");
      default ->
          throw in.malformed("field '" + word + "' is not one of 'real', 'integer', 'pattern'");
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
              "symmetry '" + word + "' is not one of 'general', 'symmetric', 'skew-symmetric'");
    };
  }

  private static MatrixMarketHeader sizes(TextScanner in, Format banner) throws IOException {
    if (!in.nextContent('%')) {
      throw in.malformed("the file ends before the line of sizes");
    }
    boolean coordinate = banner.coordinate;
    long line = in.line();
    long rows = size(in, "number of rows", coordinate ? Long.MAX_VALUE : MOST);
    int columns = 1;
    long entries = -1;
    boolean withoutColumns = banner.vector && coordinate;
    if (!banner.vector) {
      columns = (int) size(in, "number of columns", MOST);
    } else if (coordinate || !in.lineDone()) {
      // "n entries" or "n 1 entries" of coordinates, "n" or "n 1" of an array.
      long next = size(in, coordinate ? "number of entries" : "number of columns", Long.MAX_VALUE);
      withoutColumns = coordinate && in.lineDone();
      entries = withoutColumns ? next : -1;
      if (!withoutColumns && next != 1) {
        throw in.malformed("a vector has one column, not " + next);
      }
    }
    if (banner.symmetry != Symmetry.GENERAL && rows != columns) {
      throw in.malformed("a symmetric matrix cannot be " + rows + " x " + columns);
    }
    if (entries < 0) {
      entries = coordinate ? size(in, "number of entries", Long.MAX_VALUE) : -1;
    }
    if (!coordinate) {
      long n = columns;
      entries =
          switch (banner.symmetry) {
            case GENERAL -> rows * n;
            case SYMMETRIC -> n * (n + 1) / 2;
            case SKEW -> n * (n - 1) / 2;
          };
    }
    if (!in.lineDone()) {
      throw in.malformed("words after the sizes");
    }
    in.skipLine();
    return new MatrixMarketHeader(
        banner.withVector(withoutColumns), rows, columns, entries, line, in.line(), in.offset());
  }

  private static long size(TextScanner in, String what, long most) throws IOException {
    long value = in.integer(what, ' ');
    if (value < 0) {
      throw in.malformed(what + " " + value + " is negative");
    }
    if (value > most) {
      throw beyond(in.place(), what, value);
    }
    return value;
  }

  private static IndexOverflowException beyond(String place, String what, long value) {
    return new IndexOverflowException(
        place + ": " + what + " " + value + " is beyond 2^31", what, value);
  }

  /**
   * m, for one JVM's arrays.
   *
   * @throws IndexOverflowException if they cannot have this many elements
   */
  public int intRows(String source) {
    if (rows > MOST) {
      throw beyond(source + ":" + line, "number of rows", rows);
    }
    return (int) rows;
  }

  /**
   * The error of a file that ends too soon.
   *
   * @param last its last line
   * @param there the entries found
   */
  public MatrixFormatException endsEarly(String source, long last, long there) {
    return new MatrixFormatException(
        source + ":" + last + ": the file ends after " + there + " of " + entries + " entries",
        source,
        last);
  }

  MatrixFormatException tooMany(TextScanner in) {
    return in.malformed("more than the " + entries + " entries of line " + line);
  }
}
