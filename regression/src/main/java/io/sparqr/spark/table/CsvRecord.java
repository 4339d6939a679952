/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.table;

import de.siegmar.fastcsv.reader.CsvCallbackHandler;
import de.siegmar.fastcsv.reader.RecordType;
import java.util.Arrays;

/**
 * The fields of one record. Spaces around a field without quotes are no part of it. The instance is
 * reused for the next record.
 */
final class CsvRecord extends CsvCallbackHandler<CsvRecord> {

  private String[] fields = new String[16];
  private boolean[] quoted = new boolean[16];
  private int count;
  private long line;
  private RecordType type = RecordType.DATA;

  int count() {
    return count;
  }

  String field(int k) {
    return fields[k];
  }

  /** Whether a field was in quotes. */
  boolean quoted(int k) {
    return quoted[k];
  }

  /** The line in which the record begins, from 1 at the beginning of the parser's input. */
  long line() {
    return line;
  }

  /** Whether the line has nothing but spaces. */
  boolean blank() {
    return count == 0 || (count == 1 && !quoted[0] && fields[0].isEmpty());
  }

  /** The beginning of the record as a message shows it. */
  String beginning(char delimiter) {
    var text = new StringBuilder();
    for (int k = 0; k < count && text.length() <= Shown.LONGEST; k++) {
      text.append(k > 0 ? String.valueOf(delimiter) : "").append(fields[k]);
    }
    return Shown.of(text.toString());
  }

  @Override
  protected RecordType getRecordType() {
    return type;
  }

  @Override
  protected int getFieldCount() {
    return count;
  }

  @Override
  protected void beginRecord(long startingLineNumber) {
    line = startingLineNumber;
    count = 0;
    type = RecordType.DATA;
  }

  @Override
  protected void addField(char[] buffer, int offset, int length, boolean inQuotes) {
    if (count == fields.length) {
      fields = Arrays.copyOf(fields, 2 * count);
      quoted = Arrays.copyOf(quoted, 2 * count);
    }
    int begin = offset;
    int end = offset + length;
    if (!inQuotes) {
      while (begin < end && space(buffer[begin])) {
        begin++;
      }
      while (begin < end && space(buffer[end - 1])) {
        end--;
      }
    }
    fields[count] = new String(buffer, begin, end - begin);
    quoted[count] = inQuotes;
    count++;
  }

  private static boolean space(char c) {
    return c <= ' ' || c == '\u00a0';
  }

  @Override
  protected void setComment(char[] buffer, int offset, int length) {
    type = RecordType.COMMENT;
  }

  @Override
  protected void setEmpty() {
    type = RecordType.EMPTY;
  }

  @Override
  protected CsvRecord buildRecord() {
    return this;
  }
}
