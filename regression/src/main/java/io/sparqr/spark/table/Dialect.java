/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.table;

import java.io.Serializable;
import java.nio.charset.Charset;
import java.util.Set;

/**
 * How the files of a table are written.
 *
 * @param delimiter between fields
 * @param quote around fields that contain delimiters, quotes or line breaks; doubled within
 * @param comment first character of a line that is skipped; 0: none
 * @param decimal the decimal mark
 * @param thousands the mark between thousands; 0: none
 * @param encoding name of the charset
 * @param preamble whether a line {@code sep=;} comes before the header
 * @param missing texts that stand for a missing value, besides nothing
 */
record Dialect(
    char delimiter,
    char quote,
    char comment,
    char decimal,
    char thousands,
    String encoding,
    boolean preamble,
    Set<String> missing)
    implements Serializable {

  static final String WINDOWS = "windows-1252";

  Charset charset() {
    return Charset.forName(encoding);
  }

  boolean isMissing(String text) {
    return text.isEmpty() || missing.contains(text);
  }

  Dialect withEncoding(String other) {
    return new Dialect(delimiter, quote, comment, decimal, thousands, other, preamble, missing);
  }

  Dialect withDecimal(char other) {
    return new Dialect(delimiter, quote, comment, other, thousands, encoding, preamble, missing);
  }

  Dialect withDelimiter(char other) {
    return new Dialect(other, quote, comment, decimal, thousands, encoding, preamble, missing);
  }

  /** The name of a delimiter in messages. */
  static String shown(char delimiter) {
    return delimiter == '\t' ? "tab" : "'" + delimiter + "'";
  }

  /**
   * Whether a byte that is an ASCII character is always that character, so that bytes can be cut.
   */
  boolean plainBytes() {
    return encoding.equals("UTF-8")
        || encoding.equals("US-ASCII")
        || encoding.startsWith("ISO-8859-")
        || encoding.startsWith("windows-125");
  }
}
