/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.table;

/** What a value looks like. The kinds exclude each other. */
enum ValueKind {
  /** A whole number of at most 64 bits. */
  WHOLE,
  /** A whole number with zeros before it, 007: perhaps an identifier. */
  LEADING_ZERO,
  /** A whole number of more than 64 bits: an identifier, or too large to be exact. */
  BIG,
  /** 1.5, 1.5e3. */
  POINT,
  /** 1e5. */
  SCIENTIFIC,
  /** 1,5: a number if the comma is the decimal mark. */
  COMMA,
  /** 1,250: thousands, or a decimal comma. */
  COMMA_OR_THOUSANDS,
  /** 1,250,000 or 1.250,50 or 1 250: a number with marks between thousands. */
  THOUSANDS,
  /** inf, Infinity. */
  INFINITE,
  /** NaN: a missing value in a column of numbers. */
  NAN,
  BOOLEAN,
  DATE,
  TIMESTAMP,
  /** A timestamp with a time zone. */
  INSTANT,
  /** A usual mark of missing values that was not named as one. */
  MARK,
  /** Any other text. */
  OTHER;

  static final int COUNT = values().length;

  /** Whether a value of this kind is a number. */
  boolean isNumber(char decimal) {
    return switch (this) {
      case WHOLE, LEADING_ZERO, BIG, SCIENTIFIC, INFINITE, NAN -> true;
      case POINT -> decimal == '.';
      case COMMA, COMMA_OR_THOUSANDS -> decimal == ',';
      default -> false;
    };
  }
}
