/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign.regression;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;

/**
 * A small table.
 *
 * @param columns of equal lengths
 */
record Sheet(List<Column> columns) {

  /** What a column holds. */
  enum Kind {
    NUMBER(DataTypes.DoubleType),
    WHOLE(DataTypes.LongType),
    TEXT(DataTypes.StringType),
    TRUTH(DataTypes.BooleanType);

    private final DataType type;

    Kind(DataType type) {
      this.type = type;
    }

    DataType type() {
      return type;
    }

    boolean number() {
      return this == NUMBER || this == WHOLE;
    }
  }

  /**
   * A column.
   *
   * @param values Double, Long, String or Boolean; null and NaN are missing
   */
  record Column(String name, Kind kind, Object[] values) {

    static Column numbers(String name, double[] values) {
      return new Column(name, Kind.NUMBER, Arrays.stream(values).boxed().toArray());
    }

    boolean missing(int row) {
      Object v = values[row];
      return v == null || v instanceof Double d && d.isNaN();
    }

    /** The number in a row; TRUE is 1. */
    double number(int row) {
      Object v = Objects.requireNonNull(values[row]);
      if (v instanceof Boolean b) {
        return b ? 1 : 0;
      }
      return ((Number) v).doubleValue();
    }

    Column with(Object[] others) {
      return new Column(name, kind, others);
    }
  }

  int rows() {
    return columns.get(0).values().length;
  }

  Column column(String name) {
    return columns.stream().filter(c -> c.name().equals(name)).findFirst().orElseThrow();
  }

  List<String> names() {
    return columns.stream().map(Column::name).toList();
  }

  /** The rows of these numbers. */
  Sheet rows(List<Integer> some) {
    var all = new ArrayList<Column>();
    for (Column c : columns) {
      all.add(c.with(some.stream().map(i -> c.values()[i]).toArray()));
    }
    return new Sheet(all);
  }

  /** As a CSV file with a header; what is missing is NA, NaN an empty field. */
  String csv() {
    var text = new StringBuilder();
    text.append(String.join(",", names().stream().map(Sheet::quoted).toList())).append('\n');
    for (int i = 0; i < rows(); i++) {
      var line = new ArrayList<String>();
      for (Column c : columns) {
        line.add(c.missing(i) ? c.values()[i] == null ? "NA" : "" : quoted("" + c.values()[i]));
      }
      text.append(String.join(",", line)).append('\n');
    }
    return text.toString();
  }

  private static String quoted(String field) {
    boolean plain = field.chars().noneMatch(c -> c == ',' || c == '"' || c == '\n');
    return plain ? field : '"' + field.replace("\"", "\"\"") + '"';
  }
}
