/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.table;

import io.sparqr.error.MatrixFormatException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/** The decisions from a profile of all rows: decimal mark, columns, types, notes. */
final class Tabulation {

  /** The largest number of notes about single columns. */
  private static final int MOST_NOTES = 12;

  private final TableOptions options;
  private final Header header;
  private final TableProfile profile;
  private final List<String> notes;
  private final Dialect dialect;
  private final ColumnType[] types;

  Tabulation(
      TableOptions options,
      Dialect dialect,
      Header header,
      TableProfile profile,
      List<String> notes) {
    this.options = options;
    this.header = header;
    this.profile = profile;
    this.notes = new ArrayList<>(notes);
    boolean comma = options.decimal() == null && dialect.delimiter() != ',' && commas();
    if (comma) {
      this.notes.add("decimal comma");
    }
    this.dialect = comma ? dialect.withDecimal(',') : dialect;
    this.types = decided();
  }

  /**
   * Whether the decimal mark is evidently the comma: there are numbers with commas that cannot be
   * thousands, and none with a point.
   */
  private boolean commas() {
    long commas = 0;
    long points = 0;
    for (int j = 0; j < profile.width(); j++) {
      commas += profile.column(j).count(ValueKind.COMMA);
      points += profile.column(j).count(ValueKind.POINT);
    }
    return commas > 0 && points == 0;
  }

  /** The dialect with the decimal mark that was decided. */
  Dialect dialect() {
    return dialect;
  }

  /** The types of the columns that are kept, the first ones. */
  ColumnType[] types() {
    return types;
  }

  /** What is known of each column: name, type, levels, missing values. */
  List<TableColumn> columns() {
    List<TableColumn> columns = new ArrayList<>();
    for (int j = 0; j < types.length; j++) {
      columns.add(column(header.names().get(j), profile.column(j), types[j]));
    }
    return columns;
  }

  /** Notes for the user on what was assumed about the columns. */
  List<String> notes() {
    return notes;
  }

  private ColumnType[] decided() {
    Map<String, ColumnType> asked = asked();
    ColumnType[] decided = new ColumnType[width()];
    List<String> said = new ArrayList<>();
    for (int j = 0; j < decided.length; j++) {
      String name = header.names().get(j);
      ColumnProfile p = profile.column(j);
      decided[j] = asked.get(name);
      if (decided[j] != null) {
        require(name, p, decided[j]);
        continue;
      }
      TypeDecision decision = TypeDecision.of(Shown.of(name), p, dialect.decimal());
      decided[j] = decision.type();
      if (decision.note() != null) {
        said.add(decision.note());
      }
    }
    notes.addAll(limited(said));
    return decided;
  }

  private static List<String> limited(List<String> notes) {
    if (notes.size() <= MOST_NOTES) {
      return notes;
    }
    List<String> few = new ArrayList<>(notes.subList(0, MOST_NOTES));
    few.add((notes.size() - MOST_NOTES) + " more columns are text for such reasons");
    return few;
  }

  private static TableColumn column(String name, ColumnProfile p, ColumnType type) {
    boolean number = type == ColumnType.INTEGER || type == ColumnType.NUMBER;
    return new TableColumn(
        name,
        type.word(),
        type == ColumnType.TEXT
            ? Optional.of(new TableColumn.Levels(p.levels()))
            : Optional.empty(),
        OptionalLong.of(p.missing() + (number ? p.count(ValueKind.NAN) : 0)));
  }

  /** The columns that are kept: not a last one with neither a name nor a value. */
  private int width() {
    int width = header.width();
    if (profile.trailing() > 0) {
      notes.add("every row ends with a delimiter");
    }
    if (header.nameless() && profile.column(width - 1).values() == 0) {
      notes.add("the last column has neither a name nor values and is left out");
      return width - 1;
    }
    List<String> nameless = header.names().stream().filter(n -> n.matches("_c\\d+")).toList();
    if (!nameless.isEmpty()) {
      notes.add("columns without a name are called " + Shown.of(String.join(", ", nameless)));
    }
    return width;
  }

  /** The types that were asked for. */
  private Map<String, ColumnType> asked() {
    Map<String, ColumnType> types = new HashMap<>();
    for (String request : options.typeRequests()) {
      types.putAll(TypeRequest.parse(request, header.names()));
    }
    for (String name : types.keySet()) {
      if (!header.names().contains(name)) {
        throw new IllegalArgumentException("no column " + name + " to have a type");
      }
    }
    return types;
  }

  /** Whether all values are of the type that was asked for. */
  private void require(String name, ColumnProfile p, ColumnType type) {
    Place odd = null;
    for (ValueKind k : ValueKind.values()) {
      odd = fits(k, type) ? odd : Place.earlier(odd, p.first(k));
    }
    if (odd != null) {
      throw new MatrixFormatException(
          String.format(
              "line %d: \"%s\" in column %s is no %s", odd.line(), odd.text(), name, type.word()),
          name,
          odd.line());
    }
  }

  private boolean fits(ValueKind kind, ColumnType type) {
    return switch (type) {
      case TEXT -> true;
      case INTEGER ->
          kind == ValueKind.WHOLE || kind == ValueKind.LEADING_ZERO || kind == ValueKind.NAN;
      case NUMBER -> kind.isNumber(dialect.decimal());
      case BOOLEAN -> kind == ValueKind.BOOLEAN;
      case DATE -> kind == ValueKind.DATE;
      case TIMESTAMP -> kind == ValueKind.TIMESTAMP || kind == ValueKind.DATE;
      case INSTANT -> kind == ValueKind.INSTANT;
    };
  }
}
