/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign.regression;

import io.sparqr.campaign.regression.Expression.Constant;
import io.sparqr.campaign.regression.Expression.Dot;
import io.sparqr.campaign.regression.Expression.Name;
import io.sparqr.campaign.regression.Expression.Offset;
import io.sparqr.campaign.regression.Expression.Pair;
import io.sparqr.campaign.regression.Expression.Power;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/** The terms of a formula as R's {@code terms.formula} has them (Chambers and Hastie 1992). */
final class TermList {

  private static final SortedSet<Integer> CONSTANT = new TreeSet<>();

  private final Variable response;
  private final List<String> dot;
  private final List<Variable> variables = new ArrayList<>();
  private final List<Variable> offsets = new ArrayList<>();
  private final boolean intercept;
  private final List<SortedSet<Integer>> terms;

  /**
   * Expands a formula.
   *
   * @param dot the columns for a dot
   */
  TermList(FormulaTree formula, List<String> dot) {
    this.response = formula.response();
    this.dot = dot;
    var all = new LinkedHashSet<SortedSet<Integer>>();
    all.add(CONSTANT);
    top(formula.right(), true, all);
    intercept = all.remove(CONSTANT);
    terms =
        all.stream()
            .filter(t -> t.stream().noneMatch(v -> variables.get(v).equals(response)))
            .sorted(Comparator.comparingInt(Collection::size))
            .toList();
  }

  /** In the order of their first mention. */
  List<Variable> variables() {
    return variables;
  }

  List<Variable> offsets() {
    return offsets;
  }

  boolean intercept() {
    return intercept;
  }

  /** Sorted by their numbers of variables, then as written; without those of the response. */
  List<SortedSet<Integer>> terms() {
    return terms;
  }

  private void top(Expression e, boolean add, Set<SortedSet<Integer>> all) {
    if (e instanceof Pair p && (p.sign() == '+' || p.sign() == '-')) {
      top(p.left(), add, all);
      top(p.right(), p.sign() == '+', all);
      return;
    }
    if (e instanceof Constant c) {
      join(all, List.of(CONSTANT), add == (c.value() == 1));
    } else {
      join(all, expand(e), add);
    }
  }

  private static void join(
      Set<SortedSet<Integer>> all, Collection<SortedSet<Integer>> some, boolean add) {
    if (add) {
      all.addAll(some);
    } else {
      all.removeAll(some);
    }
  }

  private Set<SortedSet<Integer>> expand(Expression e) {
    if (e instanceof Name n) {
      return one(n.variable());
    }
    if (e instanceof Dot) {
      var all = new LinkedHashSet<SortedSet<Integer>>();
      dot.forEach(column -> all.addAll(one(Variable.of(column))));
      return all;
    }
    if (e instanceof Offset o) {
      offsets.add(o.variable());
      return Set.of();
    }
    if (e instanceof Power p) {
      Set<SortedSet<Integer>> base = expand(p.base());
      Set<SortedSet<Integer>> all = base;
      for (int k = 1; k < p.exponent(); k++) {
        all = products(all, base);
      }
      return all;
    }
    if (!(e instanceof Pair p)) {
      throw new IllegalArgumentException("a constant within " + e.text());
    }
    var left = new LinkedHashSet<>(expand(p.left()));
    Set<SortedSet<Integer>> right = expand(p.right());
    switch (p.sign()) {
      case '+' -> left.addAll(right);
      case '-' -> left.removeAll(right);
      case ':' -> {
        return products(left, right);
      }
      default -> {
        Set<SortedSet<Integer>> both = products(left, right);
        left.addAll(right);
        left.addAll(both);
      }
    }
    return left;
  }

  private Set<SortedSet<Integer>> one(Variable v) {
    if (!variables.contains(v)) {
      variables.add(v);
    }
    return Set.of(new TreeSet<>(List.of(variables.indexOf(v))));
  }

  private static Set<SortedSet<Integer>> products(
      Set<SortedSet<Integer>> left, Set<SortedSet<Integer>> right) {
    var all = new LinkedHashSet<SortedSet<Integer>>();
    for (SortedSet<Integer> a : left) {
      for (SortedSet<Integer> b : right) {
        var both = new TreeSet<>(a);
        both.addAll(b);
        all.add(both);
      }
    }
    return all;
  }
}
