/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.design.formula;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.SortedSet;
import org.jspecify.annotations.Nullable;

/**
 * A parsed formula: {@code response ~ terms | absorbed}. Terms are in R's order: by their number of
 * variables, then as written. The variables of a term are in the order of their first mention in
 * the formula (Chambers and Hastie 1992, Statistical Models in S, chapter 2).
 *
 * @param response the left-hand side, if there is one
 * @param intercept whether there is a column of ones
 * @param variables of all terms, in the order of their first mention
 * @param terms terms with reported coefficients
 * @param absorbed terms after the bar: fixed effects, with every variable a factor
 * @param offsets variables subtracted from the response
 * @param dropped the response's name, if it was among the terms, which it is dropped from
 */
public record Formula(
    @Nullable Variable response,
    boolean intercept,
    List<Variable> variables,
    List<Term> terms,
    List<Term> absorbed,
    List<Variable> offsets,
    List<String> dropped)
    implements Serializable {

  /**
   * A product of variables.
   *
   * @param variables indices in {@link Formula#variables}, ascending
   */
  public record Term(List<Integer> variables) implements Serializable {

    /** The term for a set of indices. */
    static Term of(SortedSet<Integer> variables) {
      return new Term(List.copyOf(variables));
    }

    boolean within(Term other) {
      return other.variables.containsAll(variables);
    }

    /** The term without one of its variables. */
    Term without(int variable) {
      return new Term(variables.stream().filter(v -> v != variable).toList());
    }
  }

  /** Copies the lists. */
  public Formula {
    variables = List.copyOf(variables);
    terms = List.copyOf(terms);
    absorbed = List.copyOf(absorbed);
    offsets = List.copyOf(offsets);
    dropped = List.copyOf(dropped);
  }

  /**
   * Reads a formula: names, {@code + - : * ^ ( ) . 0 1 |}, {@code offset(x)}, {@code factor(x)} (or
   * {@code C(x)}), after the bar {@code a^b} for {@code a:b}, and functions of one column ({@code
   * log, log2, log10, log1p, exp, expm1, sqrt, abs}); other names are written in backticks. Spark's
   * own parser for RFormula is not used because it knows neither offsets nor absorbed effects, is
   * not public and does not record places for error messages.
   *
   * @param columns the columns for a dot
   * @throws IllegalArgumentException if it cannot be parsed, naming token and place
   */
  public static Formula parse(String text, List<String> columns) {
    return new FormulaParser(text, columns).parse();
  }

  /** The formula with these columns as its terms, in order. */
  public static Formula of(List<String> columns, boolean intercept) {
    var terms = new ArrayList<Term>();
    for (int k = 0; k < columns.size(); k++) {
      terms.add(new Term(List.of(k)));
    }
    List<Variable> variables = columns.stream().map(Variable::of).toList();
    return new Formula(null, intercept, variables, terms, List.of(), List.of(), List.of());
  }

  /** Terms sorted in R's order. */
  static List<Term> sorted(Collection<Term> terms) {
    return terms.stream().sorted(Comparator.comparingInt(t -> t.variables.size())).toList();
  }

  /**
   * Whether a factor of a term is coded by contrasts (no column for its reference level) or by one
   * column per level. It is coded by contrasts if the term without it is the constant or part of an
   * earlier term. Without a constant, the first factor of all gets one column per level.
   *
   * @param factor whether a variable is a factor, by its index
   * @return for each term its variables coded by contrasts
   */
  public List<List<Integer>> contrasts(boolean[] factor) {
    return contrasts(terms, absorbedAsTerms(factor), !intercept && absorbed.isEmpty(), factor);
  }

  /** The absorbed terms, with a factor that is among the terms, too, under its number there. */
  private List<Term> absorbedAsTerms(boolean[] factor) {
    return absorbed.stream()
        .map(t -> new Term(t.variables.stream().map(v -> amongTerms(v, factor)).sorted().toList()))
        .toList();
  }

  private int amongTerms(int effect, boolean[] factor) {
    int v = variables.indexOf(Variable.of(variables.get(effect).column()));
    boolean same = variables.get(effect).function() == Variable.Function.EFFECT;
    return same && v >= 0 && factor[v] ? v : effect;
  }

  /** As above, for the absorbed terms, which replace a constant. */
  public List<List<Integer>> absorbedContrasts(boolean[] factor) {
    return contrasts(absorbed, List.of(), true, factor);
  }

  private static List<List<Integer>> contrasts(
      List<Term> terms, List<Term> before, boolean noConstant, boolean[] factor) {
    var all = new ArrayList<>(before);
    var coded = new ArrayList<List<Integer>>();
    boolean first = noConstant;
    for (Term term : terms) {
      var byContrasts = new ArrayList<Integer>();
      for (int v : term.variables) {
        if (!factor[v]) {
          continue;
        }
        Term margin = term.without(v);
        boolean spanned = margin.variables.isEmpty() || all.stream().anyMatch(margin::within);
        if (spanned && !first) {
          byContrasts.add(v);
        }
        first = false;
      }
      coded.add(byContrasts);
      all.add(term);
    }
    return coded;
  }
}
