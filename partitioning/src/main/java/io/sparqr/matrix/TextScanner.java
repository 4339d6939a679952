/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.matrix;

import io.sparqr.error.MatrixFormatException;
import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;

/**
 * Tokens and numbers of a line-oriented text, from a byte buffer and without an object per token.
 * Tokens are separated by blanks, tabs and carriage returns; a line ends at {@code '\n'} or at the
 * end of the text. Gzip is recognised by its first two bytes. A scanner of a part of a text covers
 * the lines whose first byte lies in that part, so that adjacent parts cover every line once. Not
 * thread-safe.
 */
final class TextScanner {

  /** Longest token; longer ones are malformed input, whatever they are. */
  private static final int LONGEST = 1024;

  private static final int CAPACITY = 1 << 17;

  private static final Pattern NUMBER = Pattern.compile("[-+]?\\d+(\\.\\d+)?[eE][-+]?\\d{1,3}");

  /** A number with a point whose exponent may lack its letter. */
  private static final Pattern FIELD =
      Pattern.compile("[-+]?(\\d+\\.?\\d*|\\.\\d+)(([eEdD][-+]?|[-+])\\d+)?");

  private final String source;
  private final byte[] buffer = new byte[CAPACITY];
  private int position;
  private int limit;
  private boolean ended;
  private long line = 1;

  /** Offset in the text of buffer[0]. */
  private long bufferOffset;

  /** Lines that begin here or later belong to the next part. */
  private final long end;

  private final InputStream reader;

  /** A byte that ends a token besides blanks, such as a comma; -1: none. */
  private int separator = -1;

  /**
   * Scans a whole stream; the caller closes it.
   *
   * @param source the text's name in messages, usually the file's
   */
  TextScanner(InputStream in, String source) throws IOException {
    this.source = source;
    reader = gunzipped(in, source);
    end = Long.MAX_VALUE;
    skipMark();
  }

  /**
   * Scans the lines of an uncompressed text that begin in [begin, end).
   *
   * @param in positioned at byte max(0, begin - 1): the byte before begin shows whether a line
   *     begins there; the caller closes it
   * @param firstLine number of the first line that begins at begin or later, for messages
   */
  TextScanner(InputStream in, String source, long begin, long end, long firstLine)
      throws IOException {
    this.source = source;
    this.reader = in;
    this.end = end;
    this.bufferOffset = Math.max(0, begin - 1);
    if (begin > 0) {
      skipLine();
    } else {
      skipMark();
    }
    line = firstLine;
  }

  /** The stream itself, or the content if it begins as gzip does. */
  static InputStream gunzipped(InputStream in, String source) throws IOException {
    InputStream marked = in.markSupported() ? in : new BufferedInputStream(in, 1 << 16);
    marked.mark(2);
    int first = marked.read();
    int second = marked.read();
    marked.reset();
    if (first != 0x1f || second != 0x8b) {
      return marked;
    }
    try {
      // Buffered, because readers look ahead by marks, which a gzip stream has not.
      return new BufferedInputStream(new GZIPInputStream(marked, 1 << 16), 1 << 16);
    } catch (EOFException | ZipException e) {
      throw new MatrixFormatException(source + ":1: damaged gzip header", source, 1);
    }
  }

  /** Makes a byte end tokens as blanks do; unlike a blank it is not skipped. */
  void separateBy(char c) {
    separator = c;
  }

  /** Offset of the next byte in the (uncompressed) text. */
  long offset() {
    return bufferOffset + position;
  }

  /** Line of the next token, 1-based. */
  long line() {
    return line;
  }

  /** An error at the current line. */
  MatrixFormatException malformed(String what) {
    return malformedAt(line, what);
  }

  /** An error at a given line. */
  MatrixFormatException malformedAt(long where, String what) {
    return new MatrixFormatException(source + ":" + where + ": " + what, source, where);
  }

  /** The text's name with the current line, as messages begin with it. */
  String place() {
    return source + ":" + line;
  }

  /**
   * Refills the buffer so that the next token is contiguous; adds a line feed after the text's end.
   */
  private void fill() throws IOException {
    if (limit - position > LONGEST || ended) {
      return;
    }
    System.arraycopy(buffer, position, buffer, 0, limit - position);
    limit -= position;
    bufferOffset += position;
    position = 0;
    while (limit < CAPACITY - 1) {
      int got;
      try {
        got = reader.read(buffer, limit, CAPACITY - 1 - limit);
      } catch (EOFException e) {
        throw malformed("the gzip stream is cut off");
      } catch (ZipException e) {
        throw malformed("the gzip stream is damaged (" + e.getMessage() + ")");
      }
      if (got < 0) {
        ended = true;
        buffer[limit] = '\n';
        return;
      }
      limit += got;
    }
  }

  /** Skips UTF-8's byte order mark, which some editors put before the text. */
  private void skipMark() throws IOException {
    fill();
    if (limit - position >= 3
        && buffer[position] == (byte) 0xef
        && buffer[position + 1] == (byte) 0xbb
        && buffer[position + 2] == (byte) 0xbf) {
      position += 3;
    }
  }

  /** Skips blanks within the line; true if nothing is left in it. */
  boolean lineDone() throws IOException {
    while (true) {
      fill();
      while (position < limit) {
        byte c = buffer[position];
        if (c == '\n') {
          return true;
        }
        if (c != ' ' && c != '\t' && c != '\r') {
          return false;
        }
        position++;
        if (limit - position <= LONGEST && !ended) {
          break;
        }
      }
      if (position >= limit && ended) {
        return true;
      }
    }
  }

  /** Next byte of the line, which must not be at its end. */
  int peek() {
    return buffer[position];
  }

  /** Skips the rest of the line. */
  void skipLine() throws IOException {
    while (true) {
      fill();
      while (position < limit) {
        if (buffer[position++] == '\n') {
          line++;
          return;
        }
      }
      if (ended) {
        return;
      }
    }
  }

  /** True at the end of the text. */
  boolean done() throws IOException {
    fill();
    return ended && position >= limit;
  }

  /**
   * From the beginning of a line, skips empty lines and lines that begin with the mark; false at
   * the end of the text or of this part.
   */
  boolean nextContent(char commentMark) throws IOException {
    while (offset() < end) {
      if (!lineDone()) {
        if (buffer[position] != commentMark) {
          return true;
        }
      } else if (done()) {
        return false;
      }
      skipLine();
    }
    return false;
  }

  private int tokenEnd() {
    int end = position;
    while (end < limit && !blank(buffer[end]) && buffer[end] != separator) {
      end++;
    }
    return end;
  }

  private static boolean blank(byte c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
  }

  /** The next token of the line as a string; the line must not be at its end. */
  String token() throws IOException {
    String text = peekToken();
    position += text.length();
    return text;
  }

  private String peekToken() {
    int end = Math.min(tokenEnd(), position + LONGEST);
    return new String(buffer, position, end - position, StandardCharsets.ISO_8859_1);
  }

  private String quoted() {
    String text = peekToken();
    return "'" + (text.length() > 40 ? text.substring(0, 40) + "..." : text) + "'";
  }

  /** Consumes a byte if it comes next. */
  boolean accept(char expected) {
    if (position < limit && buffer[position] == expected) {
      position++;
      return true;
    }
    return false;
  }

  /**
   * Consumes the beginning of a word if it comes next in the line, which must not be at its end.
   */
  boolean accept(String expected) {
    for (int k = 0; k < expected.length(); k++) {
      if (position + k >= limit || buffer[position + k] != expected.charAt(k)) {
        return false;
      }
    }
    position += expected.length();
    return true;
  }

  /**
   * The integer of at most 18 digits at the current token, also in the form 1e+05, which R writes.
   *
   * @param what its name in the error
   * @param terminator a further byte that may follow it, or a blank
   */
  long integer(String what, char terminator) throws IOException {
    if (lineDone()) {
      throw malformed(what + " is missing");
    }
    int p = position;
    boolean negative = buffer[p] == '-';
    if (negative || buffer[p] == '+') {
      p++;
    }
    int start = p;
    long value = 0;
    while (p < limit && buffer[p] >= '0' && buffer[p] <= '9' && p - start < 18) {
      value = 10 * value + (buffer[p++] - '0');
    }
    if (p == start || !ends(p, terminator)) {
      return rounded(what, terminator);
    }
    position = p;
    return negative ? -value : value;
  }

  private boolean ends(int p, char terminator) {
    return p >= limit || blank(buffer[p]) || buffer[p] == terminator;
  }

  /** An integer written with an exponent or a point. */
  private long rounded(String what, char terminator) {
    int p = position;
    while (!ends(p, terminator) && p - position < LONGEST) {
      p++;
    }
    String text = new String(buffer, position, p - position, StandardCharsets.ISO_8859_1);
    // Without an exponent, 0.5 or 10.0 is more likely a misplaced value than an index.
    if (!NUMBER.matcher(text).matches()) {
      throw malformed(quoted() + " is no " + what);
    }
    double value = Double.parseDouble(text);
    if (value != Math.rint(value) || Math.abs(value) >= 1e18) {
      throw malformed(quoted() + " is no " + what);
    }
    position = p;
    return (long) value;
  }

  /**
   * The decimal number at the current token, correctly rounded. Fortran's exponents are accepted:
   * with a D, and after a point without any letter (1.0-5, as Fortran writes three digits). NaN and
   * infinities, numbers beyond the double range included, are returned: the caller knows the row
   * and column for the error.
   */
  double number(String what) throws IOException {
    if (lineDone()) {
      throw malformed(what + " is missing");
    }
    int p = position;
    boolean negative = buffer[p] == '-';
    if (negative || buffer[p] == '+') {
      p++;
    }
    long mantissa = 0;
    int digits = 0;
    int dropped = 0;
    int fraction = 0;
    boolean any = false;
    boolean point = false;
    byte c;
    for (; p < limit; p++) {
      c = buffer[p];
      if (c >= '0' && c <= '9') {
        any = true;
        if (digits < 18) {
          mantissa = 10 * mantissa + (c - '0');
          if (mantissa != 0) {
            digits++;
          }
          if (point) {
            fraction++;
          }
        } else {
          dropped += c == '0' ? 0 : 1;
          if (!point) {
            fraction--;
          }
        }
      } else if (c == '.' && !point) {
        point = true;
      } else {
        break;
      }
    }
    int mantissaEnd = p;
    int exponent = 0;
    if (any && p < limit && (isExponentMark(buffer[p]) || (point && isSign(buffer[p])))) {
      int q = isSign(buffer[p]) ? p : p + 1;
      boolean down = q < limit && buffer[q] == '-';
      if (q < limit && isSign(buffer[q])) {
        q++;
      }
      int start = q;
      while (q < limit && buffer[q] >= '0' && buffer[q] <= '9') {
        exponent = Math.min(100_000, 10 * exponent + (buffer[q++] - '0'));
      }
      if (q > start) {
        p = q;
        exponent = down ? -exponent : exponent;
      }
    }
    if (!any || (p < limit && !blank(buffer[p]) && buffer[p] != separator)) {
      return unusual(what);
    }
    double value = Decimal.toDouble(mantissa, exponent - fraction);
    if (dropped > 0 || Double.isNaN(value)) {
      int length = mantissaEnd - position;
      String text = new String(buffer, position, length, StandardCharsets.ISO_8859_1);
      position = p;
      return Double.parseDouble(text + "e" + exponent);
    }
    position = p;
    return negative ? -value : value;
  }

  /** The rest of the line, at most 1024 bytes of it; does not move on. */
  String peekLine() throws IOException {
    fill();
    int p = position;
    while (p < limit && p - position < LONGEST && buffer[p] != '\n') {
      p++;
    }
    return new String(buffer, position, p - position, StandardCharsets.ISO_8859_1);
  }

  /** Number of words in the rest of the line, or -1 if it is longer than 1024 bytes. */
  int words() throws IOException {
    fill();
    int words = 0;
    boolean within = false;
    for (int p = position; p - position < LONGEST; p++) {
      boolean ends = p >= limit || blank(buffer[p]);
      words += !ends && !within ? 1 : 0;
      within = !ends;
      if (p >= limit || buffer[p] == '\n') {
        return words;
      }
    }
    return -1;
  }

  /**
   * The end of the next field of fixed width, less if the line ends before.
   *
   * @throws MatrixFormatException if the line is at its end, or if the field is blank
   */
  private int fieldEnd(int width, String what) throws IOException {
    if (lineDone(width)) {
      throw malformed(what + " is missing");
    }
    int p = position;
    while (p < limit && p - position < width && buffer[p] != '\n' && buffer[p] != '\r') {
      p++;
    }
    return p;
  }

  /** Whether the next width bytes of the line are blank or beyond its end; does not move on. */
  private boolean lineDone(int width) throws IOException {
    fill();
    int p = position;
    while (p < limit && p - position < width && buffer[p] != '\n') {
      if (!blank(buffer[p])) {
        return false;
      }
      p++;
    }
    return true;
  }

  /** The integer in the next width bytes, at most 255, as Fortran's I edit descriptor reads it. */
  long integerField(int width, String what) throws IOException {
    int end = fieldEnd(width, what);
    int p = position;
    while (blank(buffer[p])) {
      p++;
    }
    boolean negative = buffer[p] == '-';
    if (negative || buffer[p] == '+') {
      p++;
    }
    int start = p;
    long value = 0;
    while (p < end && buffer[p] >= '0' && buffer[p] <= '9' && p - start < 18) {
      value = 10 * value + (buffer[p++] - '0');
    }
    boolean any = p > start;
    while (p < end && blank(buffer[p])) {
      p++;
    }
    if (!any || p < end) {
      throw malformed(field(end) + " is no " + what);
    }
    position = end;
    return negative ? -value : value;
  }

  /** The number in the next width bytes, at most 255; neighbours may touch without a blank. */
  double numberField(int width, String what) throws IOException {
    int end = fieldEnd(width, what);
    if (end == limit || blank(buffer[end])) {
      double value = number(what);
      while (position < end && blank(buffer[position])) {
        position++;
      }
      if (position != end) {
        throw malformed(field(end) + " after a " + what);
      }
      return value;
    }
    String text = new String(buffer, position, end - position, StandardCharsets.ISO_8859_1).strip();
    if (!FIELD.matcher(text).matches()) {
      throw malformed(field(end) + " is no " + what);
    }
    position = end;
    return Double.parseDouble(
        text.replaceFirst("[dD]", "e").replaceFirst("(?<=[\\d.])(?=[-+])", "e"));
  }

  private String field(int end) {
    int length = Math.max(0, end - position);
    return "'" + new String(buffer, position, length, StandardCharsets.ISO_8859_1) + "'";
  }

  private static boolean isSign(byte c) {
    return c == '-' || c == '+';
  }

  private static boolean isExponentMark(byte c) {
    return c == 'e' || c == 'E' || c == 'd' || c == 'D';
  }

  private double unusual(String what) throws IOException {
    String text = peekToken().toLowerCase(java.util.Locale.ROOT);
    String unsigned = text.startsWith("-") || text.startsWith("+") ? text.substring(1) : text;
    if (unsigned.equals("nan")) {
      position += text.length();
      return Double.NaN;
    }
    if (unsigned.equals("inf") || unsigned.equals("infinity")) {
      position += text.length();
      return text.startsWith("-") ? Double.NEGATIVE_INFINITY : Double.POSITIVE_INFINITY;
    }
    throw malformed(quoted() + " is no " + what);
  }
}
