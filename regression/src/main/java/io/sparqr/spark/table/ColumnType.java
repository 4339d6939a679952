/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.table;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;

/** The type of a column of a table that was read from text. */
public enum ColumnType {
  /** Text as it is in the file. */
  TEXT(DataTypes.StringType),
  /** Whole numbers within 64 bits. */
  INTEGER(DataTypes.LongType),
  /** Numbers in double precision. */
  NUMBER(DataTypes.DoubleType),
  /** True and false in any case. */
  BOOLEAN(DataTypes.BooleanType),
  /** Days, 2026-11-27. */
  DATE(DataTypes.DateType),
  /** A day and a time of day without a time zone, so that no clock change moves it. */
  TIMESTAMP(DataTypes.TimestampNTZType),
  /** A day and a time of day with a time zone. */
  INSTANT(DataTypes.TimestampType);

  private final DataType sql;

  ColumnType(DataType sql) {
    this.sql = sql;
  }

  DataType sql() {
    return sql;
  }

  /** The type in which parsed rows carry a value; Spark casts texts of dates and times. */
  DataType carried() {
    return switch (this) {
      case DATE, TIMESTAMP, INSTANT -> DataTypes.StringType;
      default -> sql;
    };
  }

  /** Its word in options and notes. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * The type with a word.
   *
   * @throws IllegalArgumentException if there is none
   */
  public static ColumnType of(String word) {
    return Arrays.stream(values())
        .filter(t -> t.word().equals(word.strip().toLowerCase(Locale.ROOT)))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "no column type is called '" + word.strip() + "'; there are " + words()));
  }

  /** All words, for help texts. */
  public static String words() {
    return Arrays.stream(values()).map(ColumnType::word).collect(Collectors.joining(", "));
  }
}
