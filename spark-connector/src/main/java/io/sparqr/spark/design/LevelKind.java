/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.design;

import java.math.BigDecimal;
import java.math.MathContext;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.ShortType;
import org.apache.spark.sql.types.StringType;

/**
 * What the levels of a factor are. All but texts travel and are looked up as longs, which sort as
 * what they stand for.
 */
public enum LevelKind {
  /** Whole numbers of any width. */
  INTEGER("bigint"),
  /** False before true. */
  BOOLEAN("boolean"),
  /** Floating-point numbers; -0 is 0. */
  NUMBER("double"),
  /** Strings, by the bytes of their UTF-8, as R sorts them in the C locale. */
  TEXT("string");

  private static final MathContext DIGITS = new MathContext(15);

  private final String sql;

  LevelKind(String sql) {
    this.sql = sql;
  }

  /** The type that Spark casts the column to. */
  String sql() {
    return sql;
  }

  /**
   * Of a column's type.
   *
   * @return null if a column of this type cannot be a factor
   */
  static LevelKind of(DataType type) {
    if (type instanceof StringType) {
      return TEXT;
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

  /** A number's key: bits that sort as it does. */
  static long key(double number) {
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
   * The key that a text stands for.
   *
   * @throws IllegalArgumentException if it is no level of this kind
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
