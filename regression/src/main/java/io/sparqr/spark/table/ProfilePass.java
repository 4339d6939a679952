/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.table;

import io.sparqr.error.MatrixFormatException;
import java.io.IOException;
import java.io.Serializable;

/** One task of the pass over all rows: the profile of a piece. */
final class ProfilePass implements Serializable {

  private static final long serialVersionUID = 1;

  private final TableFiles files;
  private final Dialect dialect;
  private final Header header;

  ProfilePass(TableFiles files, Dialect dialect, Header header) {
    this.files = files;
    this.dialect = dialect;
    this.header = header;
  }

  /** The profile of a piece up to its first error, which is in the profile. */
  TableProfile of(Piece piece) throws IOException {
    int width = header.width();
    var profile = new TableProfile(width);
    try (var reader = new PieceReader(files, piece, dialect, header)) {
      reader.skipHeader();
      for (CsvRecord r = reader.next(); r != null; r = reader.next()) {
        if (!fits(r, profile, piece.file(), reader.line())) {
          profile.fail(new Place(piece.file(), reader.line(), wrongCount(r)), false);
          break;
        }
        profile.countRecord();
        for (int j = 0; j < width; j++) {
          String value = j < r.count() ? r.field(j) : "";
          String trimmed = value.strip();
          if (dialect.isMissing(trimmed)) {
            profile.column(j).addMissing();
          } else {
            profile.column(j).add(value, plain(trimmed, dialect), piece.file(), reader.line());
          }
        }
      }
    } catch (BadRecordException e) {
      profile.fail(new Place(piece.file(), e.line(), String.valueOf(e.getMessage())), e.encoding());
    } catch (MatrixFormatException e) {
      // A compressed stream that is damaged, or a header with a name twice.
      profile.fail(
          new Place(
              piece.file(), Math.max(1, e.position().orElse(1)), String.valueOf(e.getMessage())),
          false);
    }
    return profile;
  }

  /** A value without marks between thousands. */
  static String plain(String value, Dialect dialect) {
    return dialect.thousands() == 0
        ? value
        : Values.ungrouped(value, dialect.thousands(), dialect.decimal());
  }

  /** Whether a record has as many fields as the header, but for an empty one at its end. */
  private boolean fits(CsvRecord r, TableProfile profile, int file, long line) {
    int width = header.width();
    if (r.count() == width || (r.count() == width - 1 && header.nameless())) {
      return true;
    }
    int last = r.count() - 1;
    if (last == width && r.field(last).isEmpty() && !r.quoted(last)) {
      profile.countTrailing(new Place(file, line, wrongCount(r)));
      return true;
    }
    return false;
  }

  private String wrongCount(CsvRecord r) {
    return String.format(
        "%d %s where the header has %d: %s",
        r.count(),
        r.count() == 1 ? "field" : "fields",
        header.width(),
        r.beginning(dialect.delimiter()));
  }
}
