/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.table;

import io.sparqr.error.MatrixFormatException;
import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.util.Iterator;
import java.util.Locale;
import java.util.NoSuchElementException;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.jspecify.annotations.Nullable;

/** Parses pieces by the types that the profile has given their columns. */
final class RowParser implements Serializable {

  private static final long serialVersionUID = 1;

  private final TableFiles files;
  private final Dialect dialect;
  private final Header header;

  /** The types of the columns that are kept, the first ones. */
  private final ColumnType[] types;

  RowParser(TableFiles files, Dialect dialect, Header header, ColumnType[] types) {
    this.files = files;
    this.dialect = dialect;
    this.header = header;
    this.types = types.clone();
  }

  /** The rows of a piece. */
  Iterator<Row> rows(Piece piece) throws IOException {
    var reader = new PieceReader(files, piece, dialect, header);
    reader.skipHeader();
    return new Rows(reader, piece);
  }

  private final class Rows implements Iterator<Row> {
    private final PieceReader reader;
    private final Piece piece;
    private @Nullable CsvRecord next;
    private boolean known;

    Rows(PieceReader reader, Piece piece) {
      this.reader = reader;
      this.piece = piece;
    }

    @Override
    public boolean hasNext() {
      if (!known) {
        try {
          next = reader.next();
          known = true;
          if (next == null) {
            reader.close();
          }
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
      }
      return next != null;
    }

    @Override
    public Row next() {
      CsvRecord record = hasNext() ? next : null;
      if (record == null) {
        throw new NoSuchElementException();
      }
      known = false;
      Object[] values = new Object[types.length];
      for (int j = 0; j < types.length; j++) {
        values[j] = j < record.count() ? value(record.field(j), types[j]) : null;
      }
      return RowFactory.create(values);
    }

    private @Nullable Object value(String field, ColumnType type) {
      String text = field.strip();
      if (dialect.isMissing(text)) {
        return null;
      }
      if (type == ColumnType.TEXT) {
        return field;
      }
      String plain = ProfilePass.plain(text, dialect);
      ValueKind kind = Values.kind(plain);
      Object parsed = parsed(plain, kind, type);
      if (parsed == null && kind != ValueKind.NAN) {
        String name = files.file(piece.file()).name();
        throw new MatrixFormatException(
            name + ", line " + reader.line() + ": the file changed while it was read",
            name,
            reader.line());
      }
      return parsed;
    }

    private @Nullable Object parsed(String plain, ValueKind kind, ColumnType type) {
      return switch (type) {
        case INTEGER ->
            kind == ValueKind.WHOLE || kind == ValueKind.LEADING_ZERO
                ? (Object) Long.valueOf(plain)
                : null;
        case NUMBER ->
            kind.isNumber(dialect.decimal()) && kind != ValueKind.NAN
                ? (Object) Values.number(plain, kind, dialect.decimal())
                : null;
        case BOOLEAN ->
            kind == ValueKind.BOOLEAN
                ? (Object) Boolean.valueOf(plain.toLowerCase(Locale.ROOT))
                : null;
        case DATE -> kind == ValueKind.DATE ? plain : null;
        case TIMESTAMP -> kind == ValueKind.TIMESTAMP || kind == ValueKind.DATE ? plain : null;
        case INSTANT -> kind == ValueKind.INSTANT ? plain : null;
        case TEXT -> plain;
      };
    }
  }
}
