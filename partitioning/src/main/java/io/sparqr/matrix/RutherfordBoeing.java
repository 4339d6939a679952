/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.matrix;

import io.sparqr.error.IndexOverflowException;
import io.sparqr.error.MatrixFormatException;
import io.sparqr.error.NonFiniteValueException;
import io.sparqr.sparse.CsrMatrix;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads matrices in Rutherford-Boeing form (Duff, Grimes, Lewis 1997, RAL-TR-97-031) and in the
 * older Harwell-Boeing form, plain or gzip: compressed columns in Fortran's fixed fields; real,
 * integer or pattern; unsymmetric, symmetric, skew-symmetric or rectangular; assembled. Right-hand
 * sides within a Harwell-Boeing file are left out. Cost: one pass, 16 bytes an entry.
 */
public final class RutherfordBoeing {

  private static final int MOST = Integer.MAX_VALUE - 16;
  private static final int FIRST = 1 << 16;

  private static final Pattern TYPE = Pattern.compile("[rpicqRPICQ][surzhSURZH][aeAE]");
  private static final Pattern GROUP = Pattern.compile("\\([^()]*\\)");
  private static final Pattern FORMAT =
      Pattern.compile("\\((?:(\\d+)P,?)?(\\d*)([IEDFG])(\\d{1,3})(?:\\.\\d+)?(?:E\\d+)?\\)");

  private final TextScanner in;
  private final String source;

  // The header.
  private String type;
  private int rows;
  private int columns;
  private int entries;

  /** Of pointers, indices and, unless the file has none, values. */
  private Format[] formats;

  /**
   * Whether blanks separate all numbers of the line. Then they are read as words: SciPy writes
   * fields that are narrower than its formats say.
   */
  private boolean separate;

  /** A Fortran format of one kind of field: how many a line has, and how wide they are. */
  private record Format(int perLine, int width) {}

  private RutherfordBoeing(InputStream stream, String source) throws IOException {
    this.in = new TextScanner(stream, source);
    this.source = source;
    header();
  }

  /** Whether a text begins as such a file: its third line has the type and the sizes. */
  public static boolean begins(String text) {
    String[] line = text.split("\r?\n", 5);
    return line.length > 3
        && line[1].strip().matches("\\d+(\\s+-?\\d+)+")
        && line[2].matches(TYPE.pattern() + "\\s+\\d+\\s+\\d+\\s+\\d+.*")
        && line[3].strip().startsWith("(");
  }

  /**
   * Reads a matrix; the stream stays open.
   *
   * @param source what messages call the file
   * @throws MatrixFormatException if it is malformed, complex or unassembled; the message names the
   *     line
   * @throws NonFiniteValueException at NaN, infinity or a number beyond the double range
   */
  public static CsrMatrix readMatrix(InputStream stream, String source) throws IOException {
    return new RutherfordBoeing(stream, source).read();
  }

  private CsrMatrix read() throws IOException {
    int[] pointer = integers(formats[0], columns + 1L, entries + 1L, "column pointer");
    if (pointer[columns] != entries) {
      throw in.malformed(
          "the column pointers end at " + (pointer[columns] + 1L) + ", not at " + (entries + 1L));
    }
    int[] index = integers(formats[1], entries, rows, "row index");
    double[] value = formats.length == 2 ? null : values(formats[2]);
    CompressedForm.Mirror mirror =
        switch (type.charAt(1)) {
          case 's' -> CompressedForm.Mirror.EQUAL;
          case 'z' -> CompressedForm.Mirror.NEGATED;
          default -> CompressedForm.Mirror.NONE;
        };
    return new CompressedForm(source, true, rows, columns).matrix(pointer, index, value, mirror);
  }

  private void header() throws IOException {
    in.skipLine();
    String[] cards = words("the numbers of lines", 4);
    String[] sizes = words("the type and the sizes", 4);
    type = sizes[0].toLowerCase(Locale.ROOT);
    if (!TYPE.matcher(type).matches()) {
      throw malformed("'" + sizes[0] + "' is not a type of matrix, such as rua or psa");
    }
    if (type.charAt(0) == 'c' || type.charAt(0) == 'q' || type.charAt(1) == 'h') {
      throw malformed("complex matrices are not supported (real, integer or pattern are)");
    }
    if (type.charAt(2) == 'e') {
      throw malformed("unassembled matrices are not supported");
    }
    rows = size("number of rows", sizes[1]);
    columns = size("number of columns", sizes[2]);
    entries = size("number of entries", sizes[3]);
    if (rows != columns && "szSZ".indexOf(type.charAt(1)) >= 0) {
      throw malformed("a symmetric matrix cannot be " + rows + " x " + columns);
    }
    formats = formats();
    if (cards.length > 4 && size("number of lines", cards[4]) > 0) {
      in.skipLine();
    }
  }

  private String[] words(String what, int least) throws IOException {
    if (in.done()) {
      throw in.malformed("the file ends before " + what);
    }
    String[] words = in.peekLine().strip().split("\\s+");
    if (words.length < least) {
      throw in.malformed(what + " are missing");
    }
    in.skipLine();
    return words;
  }

  private Format[] formats() throws IOException {
    if (in.done()) {
      throw in.malformed("the file ends before the line of formats");
    }
    String line = in.peekLine().toUpperCase(Locale.ROOT);
    Matcher group = GROUP.matcher(line);
    Format[] found = new Format[type.charAt(0) == 'p' ? 2 : 3];
    for (int k = 0; k < found.length; k++) {
      if (!group.find()) {
        throw in.malformed("formats of pointers, indices and values are needed");
      }
      found[k] = format(group.group(), k < 2);
    }
    in.skipLine();
    return found;
  }

  private Format format(String text, boolean ofIntegers) {
    Matcher m = FORMAT.matcher(text.replaceAll("\\s", ""));
    if (!m.matches() || (ofIntegers && !m.group(3).equals("I"))) {
      throw in.malformed("the format " + text + " is not read (such as (10I8) or (4E20.12) are)");
    }
    // A scale changes numbers without an exponent.
    if (m.group(1) != null && m.group(3).equals("F")) {
      throw in.malformed("the format " + text + " scales its numbers, which is not read");
    }
    int perLine = m.group(2).isEmpty() ? 1 : size("number of fields", m.group(2));
    int width = Integer.parseInt(m.group(4));
    if (perLine == 0 || width == 0 || width > 255) {
      throw in.malformed("the format " + text + " has no fields of 1 to 255 characters");
    }
    return new Format(perLine, width);
  }

  private int size(String what, String word) {
    if (!word.matches("\\d{1,18}")) {
      throw malformed("'" + word + "' is no " + what);
    }
    long value = Long.parseLong(word);
    if (value > MOST) {
      throw new IndexOverflowException(
          source + ":" + in.line() + ": " + what + " " + value + " is beyond 2^31", what, value);
    }
    return (int) value;
  }

  /** An error in the line that has just been taken. */
  private MatrixFormatException malformed(String what) {
    return in.malformedAt(Math.max(1, in.line() - 1), what);
  }

  /** Integers of 1..most, reduced by 1. */
  private int[] integers(Format format, long count, long most, String what) throws IOException {
    int[] read = new int[(int) Math.min(count, FIRST)];
    for (int k = 0; k < count; k++) {
      begin(format, k, count, what);
      long v = separate ? in.integer(what, ' ') : in.integerField(format.width, what);
      if (v < 1 || v > most) {
        throw in.malformed(what + " " + v + " is not in 1.." + most);
      }
      if (k == read.length) {
        read = Arrays.copyOf(read, (int) Math.min(count, 2L * k));
      }
      read[k] = (int) (v - 1);
    }
    if (count > 0) {
      in.skipLine();
    }
    return read;
  }

  private double[] values(Format format) throws IOException {
    double[] read = new double[Math.min(entries, FIRST)];
    for (int k = 0; k < entries; k++) {
      begin(format, k, entries, "value");
      double v = separate ? in.number("value") : in.numberField(format.width, "value");
      if (!Double.isFinite(v)) {
        throw new NonFiniteValueException(
            in.place() + ": value " + (k + 1) + " is not finite", -1, -1);
      }
      if (k == read.length) {
        read = Arrays.copyOf(read, (int) Math.min(entries, 2L * k));
      }
      read[k] = v;
    }
    return read;
  }

  /** Moves to the next line where the format does; k fields have been read. */
  private void begin(Format format, int k, long count, String what) throws IOException {
    if (k % format.perLine > 0) {
      return;
    }
    if (k > 0) {
      in.skipLine();
    }
    if (in.done()) {
      throw in.malformed("the file ends after " + k + " of " + count + " " + what + "s");
    }
    separate = in.words() == Math.min(format.perLine, count - k);
  }
}
