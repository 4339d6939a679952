/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.table;

import java.io.BufferedInputStream;
import java.io.Closeable;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import org.jspecify.annotations.Nullable;

/** The records of a piece, without the header of its file. */
final class PieceReader implements Closeable {

  private final CsvRecords records;
  private final Header header;
  private final boolean atBeginning;

  /** Opens a piece. */
  PieceReader(TableFiles files, Piece piece, Dialect dialect, Header header) throws IOException {
    InputStream in =
        piece.end() < 0
            ? files.open(piece.file())
            : new Range(files.open(piece.file(), piece.begin()), piece.end() - piece.begin());
    this.header = header;
    this.atBeginning = piece.begin() == 0;
    this.records =
        new CsvRecords(
            new StrictReader(new BufferedInputStream(in), dialect.charset()),
            dialect,
            piece.linesBefore(),
            atBeginning);
  }

  /**
   * Skips the header, if this is the beginning of a file.
   *
   * @throws BadRecordException if it is not the table's; an empty file has none
   */
  void skipHeader() throws IOException {
    CsvRecord record = atBeginning ? records.next() : null;
    if (record == null) {
      return;
    }
    Header own = Header.of(record, "", records.line());
    if (!own.names().equals(header.names())) {
      throw new BadRecordException(
          "the header is not that of the table's first file: "
              + record.beginning(',')
              + " instead of "
              + Shown.of(String.join(",", header.names())),
          records.line(),
          false);
    }
  }

  /** The next record; none at the end. */
  @Nullable CsvRecord next() throws IOException {
    return records.next();
  }

  /** The line of the file in which the current record begins. */
  long line() {
    return records.line();
  }

  @Override
  public void close() throws IOException {
    records.close();
  }

  /** The first bytes of a stream. */
  private static final class Range extends FilterInputStream {
    private long left;

    Range(InputStream in, long length) {
      super(in);
      this.left = length;
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] to, int at, int length) throws IOException {
      if (left <= 0) {
        return -1;
      }
      int n = in.read(to, at, (int) Math.min(left, length));
      left -= Math.max(0, n);
      return n;
    }

    @Override
    public boolean markSupported() {
      return false;
    }
  }
}
