/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.design.level;

import java.math.BigDecimal;
import java.math.MathContext;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DatetimeType;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.ShortType;
import org.apache.spark.sql.types.StringType;
import org.jspecify.annotations.Nullable;

/**
 * The type of a factor's levels. All except texts are sent and looked up as longs that sort in the
 * order of the levels.
 */
public enum LevelKind {
  /** Whole numbers of any width. */
  INTEGER("bigint"),
  /** False before true. */
  BOOLEAN("boolean"),
  /** Floating-point numbers; -0 is 0. */
  NUMBER("double"),
  /**
   * Strings, by the bytes of their UTF-8, as R sorts them in the C locale; dates and times, which
   * sort like their texts; decimals with more digits than numbers have.
   */
  TEXT("string");

  /** Decimal digits that every long, every double can hold. */
  private static final int LONG_DIGITS = 18;

  private static final int DOUBLE_DIGITS = 15;

  private static final MathContext DIGITS = new MathContext(DOUBLE_DIGITS);

  private final String sql;

  LevelKind(String sql) {
    this.sql = sql;
  }

  /** The type to which Spark casts the column. */
  public String sql() {
    return sql;
  }

  /**
   * The kind for a column's type.
   *
   * @return none if a column of this type cannot be a factor
   */
  public static @Nullable LevelKind of(DataType type) {
    if (type instanceof StringType || type instanceof DatetimeType) {
      return TEXT;
    }
    if (type instanceof DecimalType decimal) {
      return of(decimal);
    }
    if (type instanceof BooleanType) {
      return BOOLEAN;
    }
    if (type instanceof DoubleType || type instanceof FloatType) {
      return NUMBER;
    }
    boolean integer =
        type instanceof IntegerType
            || type instanceof LongType
            || type instanceof ShortType
            || type instanceof ByteType;
    return integer ? INTEGER : null;
  }

  /** As numbers where these hold every digit, otherwise as texts, in the order of their digits. */
  private static LevelKind of(DecimalType type) {
    if (type.precision() > LONG_DIGITS) {
      return TEXT;
    }
    return type.scale() == 0 ? INTEGER : type.precision() <= DOUBLE_DIGITS ? NUMBER : TEXT;
  }

  /** A number's key: bits that sort in the order of the numbers. */
  public static long key(double number) {
    long bits = Double.doubleToLongBits(number == 0 ? 0.0 : number);
    return bits < 0 ? bits ^ Long.MAX_VALUE : bits;
  }

  /** The inverse of {@link #key(double)}. */
  private static double number(long key) {
    return Double.longBitsToDouble(key < 0 ? key ^ Long.MAX_VALUE : key);
  }

  /** A level as R prints it: numbers with up to 15 digits. */
  String text(long key) {
    return switch (this) {
      case BOOLEAN -> key == 0 ? "FALSE" : "TRUE";
      case NUMBER -> text(number(key));
      default -> Long.toString(key);
    };
  }

  private static String text(double number) {
    if (number == Math.rint(number) && Math.abs(number) < 1e15) {
      return Long.toString((long) number);
    }
    BigDecimal d = new BigDecimal(number).round(DIGITS).stripTrailingZeros();
    boolean plain = d.scale() < 15 && d.precision() - d.scale() < 16;
    return plain ? d.toPlainString() : d.toString();
  }

  /**
   * The key of the level printed as a text.
   *
   * @throws IllegalArgumentException if it is not a level of this kind
   */
  long key(String text) {
    return switch (this) {
      case BOOLEAN -> {
        if (!text.equalsIgnoreCase("true") && !text.equalsIgnoreCase("false")) {
          throw new IllegalArgumentException("\"" + text + "\" is neither true nor false");
        }
        yield Boolean.parseBoolean(text) ? 1 : 0;
      }
      case NUMBER -> key(Double.parseDouble(text));
      default -> Long.parseLong(text);
    };
  }
}
