/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.table;

import java.time.DateTimeException;
import java.time.LocalDate;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Values as texts: what a text looks like, and its number. Only decimal digits, signs, a decimal
 * mark and an exponent make a number, and the words inf, infinity and nan; what only Java reads as
 * a number (1D, 0x1p3) is text.
 */
final class Values {

  private static final int DATE_LENGTH = 10;
  private static final int LONG_DIGITS = 18;

  /** Marks of missing values in files of SAS, Stata, SPSS, SQL, Excel and by hand. */
  private static final Set<String> MARKS =
      Set.of(
          ".",
          "..",
          "...",
          "-",
          "--",
          "---",
          "?",
          "*",
          "n/a",
          "na",
          "n.a.",
          "n.a",
          "null",
          "none",
          "nil",
          "<na>",
          "#n/a",
          "#na",
          "#null!",
          "#div/0!",
          "#value!",
          "#ref!",
          "#num!",
          "missing",
          "(missing)",
          "\\n");

  private static final Pattern THOUSANDS =
      Pattern.compile(
          "[+-]?\\d{1,3}((,\\d{3})+(\\.\\d+)?|(\\.\\d{3}){2,}|(\\.\\d{3})+,\\d+"
              + "|([ \\u00a0\\u202f\\u2009'\\u2019]\\d{3})+([.,]\\d+)?)");

  private static final Pattern TIME =
      Pattern.compile(
          "[ T]([01]\\d|2[0-3]):[0-5]\\d(:[0-5]\\d(\\.\\d{1,6})?)?(Z|[+-](0\\d|1[0-7]):[0-5]\\d)?");

  private Values() {}

  /**
   * What a text looks like.
   *
   * @param text not a missing value, without spaces around it and without marks between thousands
   */
  static ValueKind kind(String text) {
    char c = text.charAt(0);
    if (digit(c) || c == '-' || c == '+' || c == '.' || c == ',') {
      ValueKind number = number(text);
      if (number != null) {
        return number;
      }
      ValueKind time = digit(c) ? time(text) : null;
      if (time != null) {
        return time;
      }
      if (THOUSANDS.matcher(text).matches()) {
        return ValueKind.THOUSANDS;
      }
    }
    return word(text);
  }

  private static ValueKind word(String text) {
    if (text.length() > 11) {
      return ValueKind.OTHER;
    }
    String lower = text.toLowerCase(Locale.ROOT);
    switch (lower) {
      case "true", "false":
        return ValueKind.BOOLEAN;
      case "nan", "-nan":
        return ValueKind.NAN;
      case "inf", "+inf", "-inf", "infinity", "+infinity", "-infinity":
        return ValueKind.INFINITE;
      default:
        return MARKS.contains(lower) ? ValueKind.MARK : ValueKind.OTHER;
    }
  }

  private static @Nullable ValueKind number(String s) {
    int n = s.length();
    int begin = s.charAt(0) == '-' || s.charAt(0) == '+' ? 1 : 0;
    int at = digits(s, begin);
    int whole = at - begin;
    char mark = at < n ? s.charAt(at) : 0;
    int fraction = 0;
    if (mark == '.' || mark == ',') {
      int end = digits(s, at + 1);
      fraction = end - at - 1;
      at = end;
    } else {
      mark = 0;
    }
    if (whole + fraction == 0 || (mark == ',' && fraction == 0)) {
      return null;
    }
    boolean exponent = false;
    if (at < n && (s.charAt(at) == 'e' || s.charAt(at) == 'E')) {
      int from = at + 1;
      from += from < n && (s.charAt(from) == '-' || s.charAt(from) == '+') ? 1 : 0;
      int end = digits(s, from);
      exponent = end > from;
      at = exponent ? end : at;
    }
    if (at < n) {
      return null;
    }
    if (mark == ',') {
      boolean group = !exponent && fraction == 3 && whole >= 1 && whole <= 3;
      return group && s.charAt(begin) != '0' ? ValueKind.COMMA_OR_THOUSANDS : ValueKind.COMMA;
    }
    if (mark == '.') {
      return ValueKind.POINT;
    }
    if (exponent) {
      return ValueKind.SCIENTIFIC;
    }
    if (whole > 1 && s.charAt(begin) == '0') {
      return ValueKind.LEADING_ZERO;
    }
    return whole <= LONG_DIGITS || isLong(s) ? ValueKind.WHOLE : ValueKind.BIG;
  }

  private static boolean isLong(String s) {
    try {
      Long.parseLong(s);
      return true;
    } catch (NumberFormatException e) {
      return false;
    }
  }

  private static int digits(String s, int from) {
    int at = from;
    while (at < s.length() && digit(s.charAt(at))) {
      at++;
    }
    return at;
  }

  private static boolean digit(char c) {
    return c >= '0' && c <= '9';
  }

  /** An ISO date or timestamp that exists in the calendar, if it is one. */
  private static @Nullable ValueKind time(String s) {
    if (s.length() < DATE_LENGTH || s.charAt(4) != '-' || s.charAt(7) != '-' || !date(s)) {
      return null;
    }
    if (s.length() == DATE_LENGTH) {
      return ValueKind.DATE;
    }
    var m = TIME.matcher(s).region(DATE_LENGTH, s.length());
    if (!m.matches()) {
      return null;
    }
    return m.group(4) == null ? ValueKind.TIMESTAMP : ValueKind.INSTANT;
  }

  private static boolean date(String s) {
    if (digits(s, 0) != 4 || digits(s, 5) != 7 || digits(s, 8) != DATE_LENGTH) {
      return false;
    }
    int year = Integer.parseInt(s, 0, 4, 10);
    try {
      LocalDate.of(year, Integer.parseInt(s, 5, 7, 10), Integer.parseInt(s, 8, DATE_LENGTH, 10));
    } catch (DateTimeException e) {
      return false;
    }
    return year > 0;
  }

  /** The text without marks between thousands, if they are all at their places. */
  static String ungrouped(String s, char thousands, char decimal) {
    int n = s.length();
    int at = !s.isEmpty() && (s.charAt(0) == '-' || s.charAt(0) == '+') ? 1 : 0;
    int first = digits(s, at) - at;
    if (first < 1 || first > 3 || at + first == n || !isMark(s.charAt(at + first), thousands)) {
      return s;
    }
    var plain = new StringBuilder(n).append(s, 0, at + first);
    at += first;
    while (at < n && isMark(s.charAt(at), thousands)) {
      if (digits(s, at + 1) != at + 4) {
        return s;
      }
      plain.append(s, at + 1, at + 4);
      at += 4;
    }
    if (at < n && (s.charAt(at) != decimal || digits(s, at + 1) != n)) {
      return s;
    }
    return plain.append(s, at, n).toString();
  }

  private static boolean isMark(char c, char thousands) {
    return switch (thousands) {
      case ' ' -> c == ' ' || c == '\u00a0' || c == '\u202f' || c == '\u2009';
      case '\'' -> c == '\'' || c == '\u2019';
      default -> c == thousands;
    };
  }

  /** The number of a text whose kind is a number's. */
  static double number(String text, ValueKind kind, char decimal) {
    return switch (kind) {
      case INFINITE -> text.charAt(0) == '-' ? Double.NEGATIVE_INFINITY : Double.POSITIVE_INFINITY;
      case NAN -> Double.NaN;
      default -> Double.parseDouble(decimal == ',' ? text.replace(',', '.') : text);
    };
  }
}
