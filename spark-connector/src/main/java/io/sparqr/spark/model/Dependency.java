/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.model;

import java.io.Serializable;
import java.math.BigDecimal;
import java.math.MathContext;

/**
 * A dependent column as a combination of others: column = sum of coefficients[i] times column
 * on[i], up to rounding, in the caller's units.
 *
 * @param column the dependent column
 * @param on the kept columns, ascending
 * @param coefficients their coefficients; same length
 */
public record Dependency(int column, int[] on, double[] coefficients) implements Serializable {

  /**
   * The linear combination as text, such as {@code column 7 = 1 x column 0 - 0.5 x column 3}; at
   * most 20 terms.
   */
  @Override
  public String toString() {
    var text = new StringBuilder("column " + column + " =");
    int shown = Math.min(on.length, 20);
    for (int i = 0; i < shown; i++) {
      double c = coefficients[i];
      text.append(c < 0 ? " - " : i == 0 ? " " : " + ");
      text.append(digits(Math.abs(c))).append(" x column ").append(on[i]);
    }
    if (on.length == 0) {
      text.append(" 0");
    } else if (shown < on.length) {
      text.append(" and %,d more".formatted(on.length - shown));
    }
    return text.toString();
  }

  private static String digits(double x) {
    return Double.isFinite(x)
        ? new BigDecimal(x).round(new MathContext(6)).stripTrailingZeros().toString()
        : Double.toString(x);
  }
}
