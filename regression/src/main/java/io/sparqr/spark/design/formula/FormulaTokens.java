/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.design.formula;

import java.util.ArrayList;
import java.util.List;

/** The sequence of tokens of a formula, with their places for error messages. */
final class FormulaTokens {

  private static final String SIGNS = "~+-:*^()|";

  /** A token; a name in backticks is stored without them, and is never an operator or keyword. */
  private record Token(String text, boolean name, boolean quoted, int place) {}

  private final String formula;
  private final List<Token> tokens = new ArrayList<>();
  private int at;

  FormulaTokens(String formula) {
    this.formula = formula;
    int k = 0;
    while (k < formula.length()) {
      int c = formula.codePointAt(k);
      if (Character.isWhitespace(c)) {
        k += Character.charCount(c);
      } else {
        k = token(k, c);
      }
    }
    tokens.add(new Token("", false, false, formula.length()));
  }

  /** Reads the token that begins at a place; returns its end. */
  private int token(int from, int c) {
    if (c == '`') {
      int end = formula.indexOf('`', from + 1);
      if (end <= from + 1) {
        throw error(end < 0 ? "a backtick without another one" : "an empty name", from);
      }
      tokens.add(new Token(formula.substring(from + 1, end), true, true, from));
      return end + 1;
    }
    int end = from + Character.charCount(c);
    if (SIGNS.indexOf(c) < 0) {
      if (!Names.later(c)) {
        throw error("unexpected \"" + Character.toString(c) + "\"", from);
      }
      while (end < formula.length() && Names.later(formula.codePointAt(end))) {
        end += Character.charCount(formula.codePointAt(end));
      }
    }
    String text = formula.substring(from, end);
    tokens.add(new Token(text, Names.first(c) && !text.equals("."), false, from));
    return end;
  }

  private Token token() {
    return tokens.get(at);
  }

  /** Whether the next token is this operator, number or dot. */
  boolean at(String text) {
    return !token().name && !text.isEmpty() && token().text.equals(text);
  }

  boolean atName(String name) {
    return token().name && !token().quoted && token().text.equals(name);
  }

  /** Whether the next token is a power operator followed by a name. */
  boolean combines() {
    return at("^") && tokens.get(at + 1).name;
  }

  /** Whether the next token is a name without backticks, which may be that of a function. */
  boolean plainName() {
    return token().name && !token().quoted;
  }

  /**
   * Whether the {@code offset(name)} just parsed is the right operand of a colon, star or minus.
   */
  boolean afterProduct() {
    // offset ( name ) is four tokens.
    int before = at - 5;
    return before >= 0
        && !tokens.get(before).name
        && List.of(":", "*", "-").contains(tokens.get(before).text);
  }

  void next() {
    at++;
  }

  boolean take(String text) {
    boolean there = at(text);
    at += there ? 1 : 0;
    return there;
  }

  void expect(String text) {
    if (!take(text)) {
      throw unexpected("\"" + text + "\"");
    }
  }

  void expectEnd() {
    if (at < tokens.size() - 1) {
      throw unexpected("an operator or the end");
    }
  }

  String name(String what) {
    if (!token().name) {
      throw unexpected(what);
    }
    return tokens.get(at++).text;
  }

  int integer(String what) {
    String text = token().text;
    if (token().name || text.length() != 1 || text.charAt(0) < '1' || text.charAt(0) > '9') {
      throw unexpected(what);
    }
    at++;
    return text.charAt(0) - '0';
  }

  int place() {
    return token().place;
  }

  private IllegalArgumentException unexpected(String wanted) {
    boolean end = at == tokens.size() - 1;
    String found = end ? "the end" : "\"" + token().text + "\"";
    return error(found + " where " + wanted + " should stand", token().place);
  }

  /** An error with a place, counted from 1. */
  IllegalArgumentException error(String what, int place) {
    return new IllegalArgumentException(
        "formula \"" + formula + "\": " + what + ", at character " + (place + 1));
  }
}
