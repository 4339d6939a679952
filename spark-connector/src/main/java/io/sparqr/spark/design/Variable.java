/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.design;

import java.io.Serializable;
import java.util.Locale;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.functions;

/**
 * A variable of a formula: a column, or one function of it.
 *
 * @param name as R would print it, such as {@code age}, {@code log(wage)}, {@code factor(firm)}
 * @param column of the Dataset
 * @param function what is taken of it
 */
public record Variable(String name, String column, Function function) implements Serializable {

  /** What a formula can take of a column. */
  public enum Function {
    /** The column itself. */
    IDENTITY,
    /** The column as a factor, whatever its type. */
    FACTOR,
    LOG,
    LOG2,
    LOG10,
    LOG1P,
    EXP,
    EXPM1,
    SQRT,
    ABS;

    /** As a formula writes it. */
    String word() {
      return name().toLowerCase(Locale.ROOT);
    }

    /** As Python's formulas write it, where they do otherwise. */
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
    return function == Function.IDENTITY
        ? of(column)
        : new Variable(function.word() + "(" + Names.quoted(column) + ")", column, function);
  }

  /** What a number is read from: null where the function has no value. */
  Column number() {
    Column c = functions.col(Names.reference(column)).cast("double");
    return switch (function) {
      case IDENTITY, FACTOR -> c;
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
