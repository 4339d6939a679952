/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.matrix;

import io.sparqr.matrix.MatrixMarketHeader.Field;
import io.sparqr.matrix.MatrixMarketHeader.Symmetry;
import java.io.IOException;
import java.io.InputStream;

/** The entries of a Matrix Market coordinate file. */
public final class CoordinateReader extends EntryReader {

  /** Reads all entries; the scanner stands after the header. */
  CoordinateReader(TextScanner in, String source, MatrixMarketHeader header) {
    super(in, source, header, header.nextLine(), 0);
  }

  /**
   * Reads the entries on lines that begin in the bytes [begin, end) of an uncompressed file.
   *
   * @param stream positioned at byte begin - 1, where begin is at least header.end(); stays open
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
    super(
        new TextScanner(stream, source, begin, end, firstLine), source, header, firstLine, before);
  }

  @Override
  public boolean next() throws IOException {
    if (!in.nextContent('%')) {
      return false;
    }
    if (taken == header.entries()) {
      throw header.tooMany(in);
    }
    line = in.line();
    row = index("row index", header.rows());
    column = header.format().vector() ? 0 : (int) index("column index", header.columns());
    value = header.format().field() == Field.PATTERN ? 1 : number();
    if (!in.lineDone()) {
      throw in.malformed("words after the entry");
    }
    if (header.format().symmetry() == Symmetry.SKEW && row == column) {
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
}
