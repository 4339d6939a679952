/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.table;

import io.sparqr.error.MatrixFormatException;
import java.io.IOException;
import java.io.InputStream;
import java.io.StringReader;
import java.nio.charset.Charset;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Finds out from the first megabyte of a file how it is written, where that is safe: the delimiter
 * is one that occurs in the header, and of several the one that gives most rows as many fields as
 * the header.
 */
final class Sniffer {

  /** Bytes that are looked at. */
  static final int HEAD = 1 << 20;

  /** Rows that are looked at. */
  private static final int ROWS = 200;

  private static final String DELIMITERS = ",;\t|";

  /** Delimiters that are only proposed, because they occur within texts. */
  private static final String RARE = " :^~#/\u0001\u001f";

  private static final Pattern PREAMBLE =
      Pattern.compile("\"?sep=([^\\r\\n\"])\"?\\s*?(\\r\\n|\\r|\\n)", Pattern.CASE_INSENSITIVE);

  private final TableOptions options;
  private final String file;
  private final List<String> notes = new ArrayList<>();

  Sniffer(TableOptions options, String file) {
    this.options = options;
    this.file = file;
  }

  /** Notes for the user on what was found out about the file's dialect. */
  List<String> notes() {
    return notes;
  }

  /**
   * The dialect of a file.
   *
   * @throws MatrixFormatException if there is no header, or one column where another delimiter is
   *     evident
   */
  Dialect dialect(InputStream in) throws IOException {
    byte[] head = in.readNBytes(HEAD);
    boolean whole = head.length < HEAD;
    Encoding encoding = Encoding.of(head, whole, options.encoding());
    if (encoding.note() != null) {
      notes.add(encoding.note());
    }
    String text = new String(head, Charset.forName(encoding.name()));
    text = text.startsWith("\uFEFF") ? text.substring(1) : text;
    Matcher preamble = PREAMBLE.matcher(text);
    boolean said = preamble.lookingAt();
    Dialect first =
        new Dialect(
            options.delimiter() != null
                ? options.delimiter()
                : said ? preamble.group(1).charAt(0) : ',',
            options.quote(),
            options.comment() == null ? 0 : options.comment(),
            options.decimal() == null ? '.' : options.decimal(),
            options.thousands() == null ? 0 : options.thousands(),
            encoding.name(),
            said,
            options.missing());
    if (said && options.delimiter() == null) {
      notes.add("delimiter " + Dialect.shown(first.delimiter()) + ", by the line sep=");
      return first;
    }
    return options.delimiter() != null ? first : delimited(first, text, whole);
  }

  private Dialect delimited(Dialect first, String text, boolean whole) throws IOException {
    Counts best = null;
    for (char delimiter : DELIMITERS.toCharArray()) {
      if (delimiter != first.quote() && delimiter != first.comment()) {
        Counts c = count(first.withDelimiter(delimiter), text, whole);
        best = best == null || c.better(best) ? c : best;
      }
    }
    if (best == null || best.header == 0) {
      return first;
    }
    if (best.header == 1) {
      requireOneColumn(first, text, whole, best);
      return first;
    }
    if (best.delimiter != ',') {
      notes.add("delimiter " + Dialect.shown(best.delimiter));
    }
    return first.withDelimiter(best.delimiter);
  }

  private void requireOneColumn(Dialect first, String text, boolean whole, Counts one)
      throws IOException {
    for (char delimiter : RARE.toCharArray()) {
      if (delimiter == first.quote() || delimiter == first.comment()) {
        continue;
      }
      Counts c = count(first.withDelimiter(delimiter), text, whole);
      if (c.header > 1 && c.rows > 0 && c.same == c.rows) {
        throw new MatrixFormatException(
            String.format(
                "%s: one column, \"%s\"; with --delimiter %s there would be %d",
                file,
                one.beginning,
                delimiter == ' ' ? "space" : "\"" + delimiter + "\"",
                c.header),
            file,
            1);
      }
    }
  }

  /**
   * What a delimiter gives.
   *
   * @param header fields of the header; 0: no header
   * @param rows behind it
   * @param same rows with as many fields
   * @param beginning of the header
   * @param stray whether a quote stands within a name without quotes: it was cut at a delimiter
   *     that is part of a name
   */
  private record Counts(
      char delimiter, int header, int rows, int same, String beginning, boolean stray) {

    boolean better(Counts other) {
      if (header <= 1 || other.header <= 1) {
        return header > 1 && other.header <= 1;
      }
      if (stray != other.stray) {
        return !stray;
      }
      double mine = rows == 0 ? 1 : (double) same / rows;
      double its = other.rows == 0 ? 1 : (double) other.same / other.rows;
      return mine > its;
    }
  }

  private static Counts count(Dialect dialect, String text, boolean whole) throws IOException {
    int header = 0;
    int rows = 0;
    int same = 0;
    int last = 0;
    String beginning = "";
    boolean stray = false;
    try (var records = new CsvRecords(new StringReader(text), dialect, 0, true)) {
      for (CsvRecord r = records.next(); r != null && rows <= ROWS; r = records.next()) {
        if (header == 0) {
          header = r.count();
          beginning = r.beginning(dialect.delimiter());
          stray = stray(r, dialect.quote());
          continue;
        }
        rows++;
        last = r.count() == header ? 1 : 0;
        same += last;
      }
      if (!whole && rows > 0 && rows <= ROWS) {
        // The last one is cut off.
        rows--;
        same -= last;
      }
    } catch (BadRecordException e) {
      // The pass over all rows reports it with its line, in the dialect that is chosen.
      rows++;
    }
    return new Counts(dialect.delimiter(), header, rows, same, beginning, stray);
  }

  private static boolean stray(CsvRecord header, char quote) {
    for (int k = 0; k < header.count(); k++) {
      if (!header.quoted(k) && header.field(k).indexOf(quote) >= 0) {
        return true;
      }
    }
    return false;
  }
}
