/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.table;

import de.siegmar.fastcsv.reader.CommentStrategy;
import de.siegmar.fastcsv.reader.CsvParseException;
import de.siegmar.fastcsv.reader.CsvReader;
import de.siegmar.fastcsv.reader.FieldMismatchStrategy;
import java.io.Closeable;
import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.util.Iterator;
import org.jspecify.annotations.Nullable;

/**
 * The records of a text by RFC 4180, with spaces allowed around quotes; blank lines and comments
 * are skipped. One pass, nothing is held but the current record.
 */
final class CsvRecords implements Closeable {

  /** Characters of a field, at most: a longer one is a quote that is not closed. */
  private static final int LONGEST = 1 << 24;

  private final CsvReader<CsvRecord> reader;
  private final Iterator<CsvRecord> records;
  private final CsvRecord current = new CsvRecord();
  private final long linesBefore;

  /**
   * Reads a text.
   *
   * @param linesBefore lines of the file before this text
   * @param atBeginning whether this is the beginning of the file
   */
  CsvRecords(Reader text, Dialect dialect, long linesBefore, boolean atBeginning) {
    this.linesBefore = linesBefore;
    var builder =
        CsvReader.builder()
            .fieldSeparator(dialect.delimiter())
            .quoteCharacter(dialect.quote())
            .trimWhitespacesAroundQuotes(true)
            .allowUnclosedQuote(false)
            .extraFieldStrategy(FieldMismatchStrategy.IGNORE)
            .missingFieldStrategy(FieldMismatchStrategy.IGNORE)
            .maxBufferSize(LONGEST)
            .skipEmptyLines(true);
    if (dialect.comment() != 0) {
      builder.commentStrategy(CommentStrategy.SKIP).commentCharacter(dialect.comment());
    }
    this.reader = builder.build(current, text);
    if (atBeginning && dialect.preamble()) {
      reader.skipLines(1);
    }
    this.records = reader.iterator();
  }

  /**
   * The next record that is not blank, valid until the one after it; none at the end.
   *
   * @throws BadRecordException if quotes are wrong, or bytes are no text
   */
  @Nullable CsvRecord next() throws IOException {
    try {
      while (records.hasNext()) {
        CsvRecord record = records.next();
        if (!record.blank()) {
          return record;
        }
      }
      return null;
    } catch (CsvParseException e) {
      throw new BadRecordException(told(e), line(), false);
    } catch (UncheckedIOException e) {
      if (e.getCause() instanceof MalformedTextException bad) {
        throw new BadRecordException(
            String.valueOf(bad.getMessage()), linesBefore + bad.line(), true);
      }
      throw e.getCause();
    }
  }

  /** The line of the file in which the current record begins. */
  long line() {
    return linesBefore + current.line();
  }

  private static String told(CsvParseException e) {
    String message = String.valueOf(e.getMessage());
    if (message.startsWith("Unclosed")) {
      return "a quote that opens in this row is not closed by the end of the file";
    }
    if (message.startsWith("Unexpected")) {
      return "text behind a closing quote (a quote within quotes is doubled: \"\")";
    }
    if (message.contains("maximum buffer size")) {
      return "a field of more than 16 million characters; is a quote not closed?";
    }
    return message.lines().findFirst().orElse("not CSV");
  }

  @Override
  public void close() throws IOException {
    reader.close();
  }
}
