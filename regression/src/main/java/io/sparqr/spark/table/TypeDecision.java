/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.table;

import java.util.Locale;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The type of a column by its profile over all rows, and what has to be said about it.
 *
 * @param type of the column
 * @param note what has to be said, if anything
 */
record TypeDecision(ColumnType type, @Nullable String note) {

  /** A column is called nearly numeric if this share of its values are numbers. */
  private static final double MOSTLY = 0.5;

  /** The type of a column, from the kinds of its values. */
  static TypeDecision of(String name, ColumnProfile p, char decimal) {
    long values = p.values();
    if (values == 0) {
      return new TypeDecision(ColumnType.NUMBER, null);
    }
    ColumnType type = type(p, values, decimal);
    if (type == null) {
      long marks = p.count(ValueKind.MARK);
      ColumnType without = marks < values ? type(p, values - marks, decimal) : null;
      String why = marks > 0 && without != null ? marks(name, p, without) : other(name, p, decimal);
      return new TypeDecision(ColumnType.TEXT, why);
    }
    if (type == ColumnType.INTEGER || type == ColumnType.NUMBER) {
      String asked = "; --types \"" + name + "=number\" reads numbers";
      if (p.count(ValueKind.LEADING_ZERO) > 0) {
        String at = first(p, ValueKind.LEADING_ZERO);
        return text(name + " is text: leading zeros" + at + asked);
      }
      boolean whole = type == ColumnType.INTEGER;
      if (whole && p.count(ValueKind.BIG) > 0) {
        String at = first(p, ValueKind.BIG);
        return text(name + " is text: whole numbers of more than 64 bits" + at + asked);
      }
    }
    return new TypeDecision(type, null);
  }

  private static TypeDecision text(String note) {
    return new TypeDecision(ColumnType.TEXT, note);
  }

  /** The type of a column with this many values, unless only text holds them all. */
  private static @Nullable ColumnType type(ColumnProfile p, long values, char decimal) {
    long whole =
        p.count(ValueKind.WHOLE) + p.count(ValueKind.LEADING_ZERO) + p.count(ValueKind.BIG);
    long numbers = numbers(p, decimal);
    if (numbers == values) {
      return whole > 0 && whole + p.count(ValueKind.NAN) == values
          ? ColumnType.INTEGER
          : ColumnType.NUMBER;
    }
    if (p.count(ValueKind.BOOLEAN) == values) {
      return ColumnType.BOOLEAN;
    }
    if (p.count(ValueKind.DATE) == values) {
      return ColumnType.DATE;
    }
    if (p.count(ValueKind.TIMESTAMP) == values) {
      return ColumnType.TIMESTAMP;
    }
    return p.count(ValueKind.INSTANT) == values ? ColumnType.INSTANT : null;
  }

  private static long numbers(ColumnProfile p, char decimal) {
    long numbers = 0;
    for (ValueKind k : ValueKind.values()) {
      numbers += k.isNumber(decimal) ? p.count(k) : 0;
    }
    return numbers;
  }

  private static String marks(String name, ColumnProfile p, ColumnType without) {
    String list =
        p.marks().keySet().stream().map(m -> "\"" + m + "\"").collect(Collectors.joining(", "));
    long count = p.count(ValueKind.MARK);
    return String.format(
        Locale.ROOT,
        "%s is text because of %s in %,d of %,d values%s; --missing \"%s\" makes it %s",
        name,
        list,
        count,
        p.values(),
        first(p, ValueKind.MARK),
        String.join(",", p.marks().keySet()),
        without.word());
  }

  /** Says why a column that is nearly numeric is none. */
  private static @Nullable String other(String name, ColumnProfile p, char decimal) {
    long commas = p.count(ValueKind.COMMA) + p.count(ValueKind.COMMA_OR_THOUSANDS);
    long points = p.count(ValueKind.POINT);
    long thousands = p.count(ValueKind.THOUSANDS);
    long numbers = numbers(p, decimal);
    boolean mostly =
        numbers + thousands + (decimal == ',' ? points : commas) >= MOSTLY * p.values();
    if (!mostly) {
      return null;
    }
    Place odd = null;
    for (ValueKind k : ValueKind.values()) {
      odd = k.isNumber(decimal) ? odd : Place.earlier(odd, p.first(k));
    }
    if (odd == null) {
      return null;
    }
    String hint = "";
    if (decimal == '.' && commas > 0) {
      hint = "; --decimal , or --thousands , makes such values numbers";
    } else if (thousands > 0 || (decimal == ',' && points > 0)) {
      hint = "; --thousands with the mark makes such values numbers";
    }
    return String.format(
        Locale.ROOT,
        "%s is text: %,d of %,d values are not numbers, the first %s in line %d%s",
        name,
        p.values() - numbers,
        p.values(),
        "\"" + odd.text() + "\"",
        odd.line(),
        hint);
  }

  /** The first value of a kind of which there are some. */
  private static String first(ColumnProfile p, ValueKind kind) {
    Place at = Objects.requireNonNull(p.first(kind));
    return " (first " + "\"" + at.text() + "\" in line " + at.line() + ")";
  }
}
