/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.matrix;

import io.sparqr.error.NonFiniteValueException;
import io.sparqr.matrix.MatrixMarketHeader.Field;
import io.sparqr.matrix.MatrixMarketHeader.Symmetry;
import java.io.IOException;

/**
 * The entries of a Matrix Market file, one after the other. A reader covers the whole file or a
 * part of it; readers of adjacent parts return every entry exactly once. Errors name the file and
 * the line. Not thread-safe.
 */
public abstract sealed class EntryReader permits CoordinateReader, ArrayReader {

  final TextScanner in;
  final MatrixMarketHeader header;
  final String source;
  private final long firstLine;

  // The current entry.
  long row;
  int column;
  double value;
  long line;

  /** Entries read so far, including those before this part. */
  long taken;

  EntryReader(
      TextScanner in, String source, MatrixMarketHeader header, long firstLine, long before) {
    this.in = in;
    this.source = source;
    this.header = header;
    this.firstLine = firstLine;
    this.taken = before;
  }

  /**
   * Takes the next entry; false if there is none.
   *
   * @throws io.sparqr.error.MatrixFormatException at a malformed line, an index out of range, or
   *     more entries than the header declares
   * @throws NonFiniteValueException at NaN, infinity or a number beyond the double range
   */
  public abstract boolean next() throws IOException;

  /** The number at the scanner's position, for the current row and column. */
  final double number() throws IOException {
    double v = in.number("number");
    if (!Double.isFinite(v)) {
      throw new NonFiniteValueException(
          in.place()
              + ": the value of row "
              + (row + 1)
              + ", column "
              + (column + 1)
              + " is not finite",
          row,
          column);
    }
    if (header.format().field() == Field.INTEGER && v != Math.rint(v)) {
      throw in.malformed(v + " in a file of integers");
    }
    return v;
  }

  /** Refuses a file with fewer entries than its header declares. */
  final void requireComplete() {
    if (taken < header.entries()) {
      throw header.endsEarly(source, in.line(), taken);
    }
  }

  /** Row of the entry, 0-based. */
  public final long row() {
    return row;
  }

  /** Column of the entry, 0-based. */
  public final int column() {
    return column;
  }

  /** Value of the entry. */
  public final double value() {
    return value;
  }

  /** Line of the entry, 1-based. */
  public final long line() {
    return line;
  }

  /** Whether the entry stands for (column, row) too, with {@link #mirrorValue()}. */
  public final boolean mirrored() {
    return header.format().symmetry() != Symmetry.GENERAL && row != column;
  }

  /** The value at (column, row). */
  public final double mirrorValue() {
    return header.format().symmetry() == Symmetry.SKEW ? -value : value;
  }

  /** Entries read so far, including those before this part. */
  public final long taken() {
    return taken;
  }

  /** Line feeds passed so far. */
  public final long lines() {
    return in.line() - firstLine;
  }
}
