/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign.regression;

import java.util.Locale;

/** A column, or a function of it, as a formula names it. */
record Variable(String column, Function function) {

  /** Functions of one column. */
  enum Function {
    ITSELF,
    FACTOR,
    LOG,
    LOG2,
    LOG10,
    LOG1P,
    EXP,
    EXPM1,
    SQRT,
    ABS;

    /** NaN where it is not defined. */
    double of(double x) {
      double y =
          switch (this) {
            case ITSELF, FACTOR -> x;
            case LOG -> Math.log(x);
            case LOG2 -> Math.log(x) / Math.log(2);
            case LOG10 -> Math.log10(x);
            case LOG1P -> Math.log1p(x);
            case EXP -> Math.exp(x);
            case EXPM1 -> Math.expm1(x);
            case SQRT -> Math.sqrt(x);
            case ABS -> Math.abs(x);
          };
      return Double.isInfinite(y) ? Double.NaN : y;
    }
  }

  static Variable of(String column) {
    return new Variable(column, Function.ITSELF);
  }

  static Variable factor(String column) {
    return new Variable(column, Function.FACTOR);
  }

  /** As R prints it. */
  String name() {
    String plain = quoted(column);
    return function == Function.ITSELF
        ? plain
        : function.name().toLowerCase(Locale.ROOT) + "(" + plain + ")";
  }

  /** In backticks unless it is a plain name. */
  static String quoted(String column) {
    return column.matches("[\\p{L}.][\\p{L}\\p{Nd}._]*") ? column : "`" + column + "`";
  }

  /** Whether a value of it is missing in a row. */
  boolean missing(Sheet.Column values, int row) {
    if (values.missing(row)) {
      return true;
    }
    boolean plain = function == Function.ITSELF || function == Function.FACTOR;
    return !plain && Double.isNaN(function.of(values.number(row)));
  }
}
