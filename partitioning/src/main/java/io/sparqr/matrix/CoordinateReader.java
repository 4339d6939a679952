/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.matrix;

import io.sparqr.error.NonFiniteValueException;
import io.sparqr.matrix.MatrixMarketHeader.Field;
import io.sparqr.matrix.MatrixMarketHeader.Symmetry;
import java.io.IOException;
import java.io.InputStream;

/** The entries of a Matrix Market coordinate file. */
public final class CoordinateReader implements EntryReader {

  private final TextScanner in;
  private final MatrixMarketHeader header;
  private final String source;
  private final long firstLine;
  private long taken;
  private long row;
  private int column;
  private double value;

  /** All entries; the scanner stands behind the header. */
  CoordinateReader(TextScanner in, String source, MatrixMarketHeader header) {
    this.in = in;
    this.source = source;
    this.header = header;
    this.firstLine = header.nextLine();
  }

  /**
   * The entries on lines that begin in the bytes [begin, end) of a plain file.
   *
   * @param stream stands at byte begin - 1, begin being header.end() at least; stays open
   * @param firstLine number of the first such line
   * @param before number of entries before begin
   */
  public CoordinateReader(
      InputStream stream,
      String source,
      MatrixMarketHeader header,
      long begin,
      long end,
      long firstLine,
      long before)
      throws IOException {
    this.in = new TextScanner(stream, source, begin, end, firstLine);
    this.source = source;
    this.header = header;
    this.firstLine = firstLine;
    this.taken = before;
  }

  @Override
  public boolean next() throws IOException {
    if (!in.nextContent('%')) {
      return false;
    }
    if (taken == header.entries()) {
      throw header.tooMany(in);
    }
    row = index("row index", header.rows());
    column = (int) index("column index", header.columns());
    value = header.field() == Field.PATTERN ? 1 : value(in, header.field(), row, column);
    if (!in.lineDone()) {
      throw in.malformed("words after the entry");
    }
    if (header.symmetry() == Symmetry.SKEW && row == column) {
      throw in.malformed("a skew-symmetric matrix has no diagonal entry, here " + (row + 1));
    }
    in.skipLine();
    taken++;
    return true;
  }

  private long index(String what, long size) throws IOException {
    long index = in.integer(what, ' ');
    if (index < 1 || index > size) {
      throw in.malformed(
          what + " " + index + (size == 0 ? " in a matrix without any" : " is not in 1.." + size));
    }
    return index - 1;
  }

  static double value(TextScanner in, Field field, long row, int column) throws IOException {
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
    if (field == Field.INTEGER && v != Math.rint(v)) {
      throw in.malformed(v + " in a file of integers");
    }
    return v;
  }

  /** Refuses a file that has fewer entries than it promises. */
  void requireComplete() {
    if (taken < header.entries()) {
      throw header.endsEarly(source, in.line(), taken);
    }
  }

  @Override
  public long row() {
    return row;
  }

  @Override
  public int column() {
    return column;
  }

  @Override
  public double value() {
    return value;
  }

  @Override
  public boolean mirrored() {
    return header.symmetry() != Symmetry.GENERAL && row != column;
  }

  @Override
  public double mirrorValue() {
    return header.symmetry() == Symmetry.SKEW ? -value : value;
  }

  @Override
  public long taken() {
    return taken;
  }

  @Override
  public long lines() {
    return in.line() - firstLine;
  }
}
