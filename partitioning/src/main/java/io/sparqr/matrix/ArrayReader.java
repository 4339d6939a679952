/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.matrix;

import io.sparqr.matrix.MatrixMarketHeader.Symmetry;
import java.io.IOException;
import java.io.InputStream;

/**
 * The values of a Matrix Market array file as entries, column by column. The number of values
 * before it gives a value's place.
 */
public final class ArrayReader extends EntryReader {

  private boolean inLine;
  private long nextRow;
  private int nextColumn;

  /** Reads all values; the scanner stands after the header. */
  ArrayReader(TextScanner in, String source, MatrixMarketHeader header) {
    super(in, source, header, header.nextLine(), 0);
    this.nextRow = header.format().symmetry() == Symmetry.SKEW ? 1 : 0;
  }

  /**
   * Reads the values on lines that begin in the bytes [begin, end) of an uncompressed file.
   *
   * @param stream positioned at byte begin - 1, where begin is at least header.end(); stays open
   * @param header of a general array with rows
   * @param firstLine number of the first such line
   * @param before number of values before begin
   */
  public ArrayReader(
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
    if (header.format().coordinate()
        || header.format().symmetry() != Symmetry.GENERAL
        || header.rows() == 0) {
      throw new IllegalArgumentException("parts are of general arrays with rows");
    }
    this.nextRow = before % header.rows();
    this.nextColumn = (int) (before / header.rows());
  }

  @Override
  public boolean next() throws IOException {
    if (!inLine || in.lineDone() || in.peek() == '%') {
      if (inLine) {
        in.skipLine();
      }
      inLine = in.nextContent('%');
      if (!inLine) {
        return false;
      }
    }
    if (taken == header.entries()) {
      throw header.tooMany(in);
    }
    line = in.line();
    row = nextRow;
    column = nextColumn;
    value = number();
    taken++;
    if (++nextRow == header.rows()) {
      nextColumn++;
      nextRow =
          switch (header.format().symmetry()) {
            case GENERAL -> 0;
            case SYMMETRIC -> nextColumn;
            case SKEW -> nextColumn + 1L;
          };
    }
    return true;
  }
}
