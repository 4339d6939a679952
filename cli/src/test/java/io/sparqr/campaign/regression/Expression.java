/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign.regression;

/** The right-hand side of a formula as a tree. */
sealed interface Expression {

  /** A column or function. */
  record Name(Variable variable) implements Expression {
    @Override
    public String text() {
      return variable.name();
    }
  }

  /** All columns without another role. */
  record Dot() implements Expression {
    @Override
    public String text() {
      return ".";
    }
  }

  /** 0 or 1. */
  record Constant(int value) implements Expression {
    @Override
    public String text() {
      return Integer.toString(value);
    }
  }

  /** What is taken off the response. */
  record Offset(Variable variable) implements Expression {
    @Override
    public String text() {
      return "offset(" + variable.name() + ")";
    }
  }

  /** left + right, left - right, left * right, left : right. */
  record Pair(Expression left, char sign, Expression right) implements Expression {
    @Override
    public String text() {
      return inner(left, false) + " " + sign + " " + inner(right, true);
    }

    private String inner(Expression e, boolean second) {
      boolean brackets =
          e instanceof Pair p
              && (rank(p.sign) < rank(sign) || second && rank(p.sign) == rank(sign));
      return brackets ? "(" + e.text() + ")" : e.text();
    }

    private static int rank(char sign) {
      return "+-*:".indexOf(sign) / 2 == 0 ? 0 : "+-*:".indexOf(sign);
    }
  }

  /** base ^ exponent. */
  record Power(Expression base, int exponent) implements Expression {
    @Override
    public String text() {
      return (base instanceof Name ? base.text() : "(" + base.text() + ")") + "^" + exponent;
    }
  }

  /** As it is written in a formula. */
  String text();

  static Expression of(String column) {
    return new Name(Variable.of(column));
  }

  default Expression plus(Expression other) {
    return new Pair(this, '+', other);
  }

  default Expression minus(Expression other) {
    return new Pair(this, '-', other);
  }

  default Expression star(Expression other) {
    return new Pair(this, '*', other);
  }

  default Expression colon(Expression other) {
    return new Pair(this, ':', other);
  }
}
