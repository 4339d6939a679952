/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.design.formula;

import io.sparqr.spark.design.formula.Formula.Term;
import io.sparqr.spark.design.formula.Variable.Function;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;

/**
 * Recursive descent over {@code sum = product (('+' | '-') product)*}, {@code product = pair ('*'
 * pair)*}, {@code pair = power (':' power)*}, {@code power = atom ('^' integer)?}. The value of
 * each is a set of terms; the constant is the empty term.
 */
final class FormulaParser {

  private static final Term CONSTANT = new Term(List.of());

  private static final int DEEPEST = 100;

  private final FormulaTokens tokens;
  private final List<String> columns;
  private final List<Variable> variables = new ArrayList<>();
  private final List<Variable> offsets = new ArrayList<>();
  private final Set<String> written = new HashSet<>();
  private String response = "";
  private int depth;

  FormulaParser(String text, List<String> columns) {
    this.tokens = new FormulaTokens(text);
    this.columns = columns;
  }

  Formula parse() {
    Variable left = null;
    if (!tokens.at("~")) {
      left = variable("the response");
      response = left.column();
    }
    tokens.expect("~");
    Set<Term> terms = top();
    var absorbed = new LinkedHashSet<Term>();
    if (tokens.take("|")) {
      do {
        absorbed.addAll(pairs(true));
      } while (tokens.take("+"));
    }
    tokens.expectEnd();
    boolean intercept = terms.remove(CONSTANT);
    removeEffects(terms, absorbed);
    List<String> twice =
        left != null && removeResponse(left, terms) ? List.of(left.name()) : List.of();
    return new Formula(
        left,
        intercept,
        variables,
        Formula.sorted(terms),
        Formula.sorted(absorbed),
        offsets,
        twice);
  }

  /** Removes the absorbed effects' columns from what a dot stands for. */
  private void removeEffects(Set<Term> terms, Set<Term> absorbed) {
    Set<String> effects = new HashSet<>();
    for (Term effect : absorbed) {
      effect.variables().forEach(v -> effects.add(variables.get(v).column()));
    }
    Predicate<Variable> ofDot =
        v ->
            effects.contains(v.column())
                && v.function() == Function.IDENTITY
                && !written.contains(v.column());
    terms.removeIf(t -> t.variables().stream().map(variables::get).anyMatch(ofDot));
  }

  /** Removes the terms with the response, as R does; whether there were any. */
  private boolean removeResponse(Variable left, Set<Term> terms) {
    int at = variables.indexOf(left);
    return at >= 0 && terms.removeIf(t -> t.variables().contains(at));
  }

  /** Parses the outermost sum, the only one in which 0 and 1 are allowed. */
  private Set<Term> top() {
    var terms = new LinkedHashSet<Term>();
    terms.add(CONSTANT);
    boolean minus = tokens.take("-");
    if (!minus) {
      tokens.take("+");
    }
    do {
      constantOrProduct(terms, minus);
      minus = tokens.at("-");
    } while (tokens.take("+") || tokens.take("-"));
    return terms;
  }

  private void constantOrProduct(Set<Term> terms, boolean minus) {
    if (tokens.at("0") || tokens.at("1")) {
      boolean add = tokens.at("1") != minus;
      tokens.next();
      if (add) {
        terms.add(CONSTANT);
      } else {
        terms.remove(CONSTANT);
      }
    } else {
      join(terms, products(), minus);
    }
  }

  private static void join(Set<Term> terms, Collection<Term> more, boolean minus) {
    if (minus) {
      terms.removeAll(more);
    } else {
      terms.addAll(more);
    }
  }

  private Set<Term> sum() {
    var terms = new LinkedHashSet<>(products());
    boolean minus = tokens.at("-");
    while (tokens.take("+") || tokens.take("-")) {
      join(terms, products(), minus);
      minus = tokens.at("-");
    }
    return terms;
  }

  private Set<Term> products() {
    Set<Term> terms = pairs(false);
    while (tokens.take("*")) {
      Set<Term> right = pairs(false);
      var all = new LinkedHashSet<>(terms);
      all.addAll(right);
      all.addAll(crossed(terms, right));
      terms = all;
    }
    return terms;
  }

  private Set<Term> pairs(boolean factors) {
    Set<Term> terms = powers(factors);
    while (tokens.take(":")) {
      terms = crossed(terms, powers(factors));
    }
    return terms;
  }

  private Set<Term> powers(boolean factors) {
    Set<Term> base = atom(factors);
    Set<Term> terms = base;
    // Between factors after the bar, this is fixest's operator for their combinations.
    while (factors && tokens.combines()) {
      tokens.next();
      terms = crossed(terms, atom(true));
    }
    if (tokens.take("^")) {
      int power = tokens.integer("a whole power from 1 to 9");
      for (int k = 1; k < power; k++) {
        var all = new LinkedHashSet<>(terms);
        all.addAll(crossed(terms, base));
        terms = all;
      }
    }
    return terms;
  }

  private static Set<Term> crossed(Set<Term> left, Set<Term> right) {
    var all = new LinkedHashSet<Term>();
    for (Term a : left) {
      for (Term b : right) {
        var both = new TreeSet<>(a.variables());
        both.addAll(b.variables());
        all.add(Term.of(both));
      }
    }
    return all;
  }

  private Set<Term> atom(boolean factors) {
    if (!factors && tokens.at("(")) {
      int place = tokens.place();
      tokens.next();
      if (++depth > DEEPEST) {
        throw tokens.error("more than " + DEEPEST + " parentheses within each other", place);
      }
      Set<Term> inner = sum();
      depth--;
      tokens.expect(")");
      return inner;
    }
    if (!factors && tokens.at(".")) {
      return dot();
    }
    if (!factors && tokens.atName("offset")) {
      return offset();
    }
    int place = tokens.place();
    Variable v = variable(factors ? "a factor" : "a term");
    if (factors && v.function() != Function.IDENTITY && v.function() != Function.FACTOR) {
      throw tokens.error(v.name() + " is not a factor", place);
    }
    boolean plain = v.function() == Function.IDENTITY;
    if (!factors) {
      written.add(v.column());
    }
    return Set.of(term(factors && plain ? Variable.of(v.column(), Function.EFFECT) : v));
  }

  private Set<Term> dot() {
    tokens.next();
    var all = new LinkedHashSet<Term>();
    for (String column : columns) {
      if (!column.equals(response)) {
        all.add(term(Variable.of(column)));
      }
    }
    return all;
  }

  private Set<Term> offset() {
    int place = tokens.place();
    tokens.next();
    tokens.expect("(");
    Variable v = variable("a column");
    tokens.expect(")");
    if (depth > 0 || tokens.at(":") || tokens.at("*") || tokens.at("^") || tokens.afterProduct()) {
      throw tokens.error("an offset stands for itself, not within a product or parentheses", place);
    }
    offsets.add(v);
    return Set.of();
  }

  private Term term(Variable v) {
    if (!variables.contains(v)) {
      variables.add(v);
    }
    return new Term(List.of(variables.indexOf(v)));
  }

  private Variable variable(String what) {
    int place = tokens.place();
    boolean plain = tokens.plainName();
    String name = tokens.name(what);
    if (!plain || !tokens.at("(")) {
      return Variable.of(name);
    }
    Function function = function(name, place);
    tokens.next();
    Variable v = Variable.of(tokens.name("a column"), function);
    tokens.expect(")");
    return v;
  }

  private Function function(String name, int place) {
    for (Function f : Function.values()) {
      if (f != Function.IDENTITY
          && f != Function.EFFECT
          && (f.word().equals(name) || f.otherWord().equals(name))) {
        return f;
      }
    }
    throw tokens.error(
        "the function \"" + name + "\" is not known here: make a column of its values", place);
  }
}
