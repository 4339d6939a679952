/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.design.formula;

import java.io.Serializable;
import java.util.Locale;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.functions;

/**
 * A variable of a formula: a column, or one function of it.
 *
 * @param name as printed by R, such as {@code age}, {@code log(wage)}, {@code factor(firm)}
 * @param column of the Dataset
 * @param function the function of the column
 */
public record Variable(String name, String column, Function function) implements Serializable {

  /** The functions of a column that a formula can use. */
  public enum Function {
    /** The column itself. */
    IDENTITY,
    /** The column as a factor, whatever its type. */
    FACTOR,
    /**
     * The column behind the bar: a factor, whatever its type, named as the column. Among the terms
     * the same column may be a number.
     */
    EFFECT,
    LOG,
    LOG2,
    LOG10,
    LOG1P,
    EXP,
    EXPM1,
    SQRT,
    ABS;

    /** Its name in a formula. */
    String word() {
      return name().toLowerCase(Locale.ROOT);
    }

    /** Its alternative name, used in Python's formulas. */
    String otherWord() {
      return this == FACTOR ? "C" : word();
    }
  }

  /** The column itself. */
  public static Variable of(String column) {
    return new Variable(Names.quoted(column), column, Function.IDENTITY);
  }

  /** A function of a column. */
  static Variable of(String column, Function function) {
    return function == Function.IDENTITY || function == Function.EFFECT
        ? new Variable(Names.quoted(column), column, function)
        : new Variable(function.word() + "(" + Names.quoted(column) + ")", column, function);
  }

  /**
   * The expression for a number; null where the function is not defined.
   *
   * @param columns of the data, by name
   */
  public Column number(java.util.function.Function<String, Column> columns) {
    Column c = columns.apply(column).cast("double");
    return switch (function) {
      case IDENTITY, FACTOR, EFFECT -> c;
      case LOG -> functions.log(c);
      case LOG2 -> functions.log2(c);
      case LOG10 -> functions.log10(c);
      case LOG1P -> functions.log1p(c);
      case EXP -> functions.exp(c);
      case EXPM1 -> functions.expm1(c);
      case SQRT -> functions.sqrt(c);
      case ABS -> functions.abs(c);
    };
  }
}
