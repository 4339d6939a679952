/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.design.formula;

/** Names of columns, in formulas and in Spark's expressions. */
final class Names {

  private Names() {}

  static boolean first(int c) {
    return Character.isLetter(c) || c == '_' || c == '.';
  }

  static boolean later(int c) {
    return first(c) || Character.isDigit(c);
  }

  /** The name in the syntax of a formula: in backticks if it is not a plain name. */
  static String quoted(String column) {
    boolean plain =
        !column.isEmpty()
            && first(column.codePointAt(0))
            && column.codePoints().allMatch(Names::later)
            && !column.equals(".");
    return plain ? column : "`" + column + "`";
  }
}
