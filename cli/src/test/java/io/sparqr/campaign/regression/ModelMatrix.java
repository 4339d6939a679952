/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign.regression;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * The columns of a regression as R's {@code model.matrix} makes them, and the dummies of the
 * absorbed effects, from rows in which nothing is missing.
 */
final class ModelMatrix {

  static final String INTERCEPT = "(Intercept)";

  /**
   * A column of the terms.
   *
   * @param reference whether it belongs to a reference level that was named, of a factor coded by
   *     all its levels beside absorbed effects
   */
  record Column(String name, double[] values, boolean reference) {}

  private final Sheet sheet;
  private final RegressionOptions options;
  private final TermList terms;
  private final List<FormulaTree.Effect> effects;
  private final List<Column> columns = new ArrayList<>();
  private final List<int[]> effectCodes = new ArrayList<>();

  ModelMatrix(RegressionCase c, Sheet counting) {
    sheet = counting;
    options = c.options();
    terms = c.terms();
    effects = c.formula().effects();
    if (hasIntercept()) {
      var ones = new double[sheet.rows()];
      Arrays.fill(ones, 1);
      columns.add(new Column(INTERCEPT, ones, false));
    }
    boolean first = !terms.intercept() && effects.isEmpty();
    for (int t = 0; t < terms.terms().size(); t++) {
      SortedSet<Integer> term = terms.terms().get(t);
      var full = new HashSet<Integer>();
      for (int v : term) {
        if (factor(v)) {
          if (first || !spanned(term, v, terms.terms().subList(0, t))) {
            full.add(v);
          }
          first = false;
        }
      }
      expand(term, full);
    }
    distinctNames();
    for (FormulaTree.Effect e : effects) {
      effectCodes.add(
          Levels.combined(e.columns().stream().map(n -> new Levels(sheet.column(n))).toList()));
    }
  }

  boolean hasIntercept() {
    return terms.intercept() && effects.isEmpty();
  }

  /** In R's order, the intercept first. */
  List<Column> columns() {
    return columns;
  }

  /** The level of each row in each effect. */
  List<int[]> effectCodes() {
    return effectCodes;
  }

  private boolean factor(int v) {
    Variable variable = terms.variables().get(v);
    return switch (variable.function()) {
      case FACTOR -> true;
      case ITSELF ->
          !sheet.column(variable.column()).kind().number()
              || options.categorical().contains(variable.column());
      default -> false;
    };
  }

  /** Whether the term without a factor is the constant, or part of a term or effect before it. */
  private boolean spanned(SortedSet<Integer> term, int v, List<SortedSet<Integer>> before) {
    var margin = new TreeSet<>(term);
    margin.remove(v);
    return margin.isEmpty()
        || before.stream().anyMatch(t -> t.containsAll(margin))
        || effects.stream().anyMatch(e -> margin.stream().allMatch(m -> within(m, e)));
  }

  private boolean within(int v, FormulaTree.Effect e) {
    return factor(v) && e.columns().contains(terms.variables().get(v).column());
  }

  /** One variable's part of a term's columns: names and numbers. */
  private List<Column> part(int v, boolean full) {
    Variable variable = terms.variables().get(v);
    Sheet.Column column = sheet.column(variable.column());
    var parts = new ArrayList<Column>();
    if (!factor(v)) {
      var x = new double[sheet.rows()];
      Arrays.setAll(x, i -> variable.function().of(column.number(i)));
      parts.add(new Column(variable.name(), x, false));
      return parts;
    }
    // As R's relevel has it, a reference that is named is the first of all.
    String named = options.references().get(variable.column());
    var levels = new Levels(column, named);
    for (int l = 0; l < levels.count(); l++) {
      if (full || l > 0) {
        boolean[] is = levels.dummy(l);
        var x = new double[is.length];
        Arrays.setAll(x, i -> is[i] ? 1 : 0);
        boolean marked = full && named != null && l == 0 && !effects.isEmpty();
        parts.add(new Column(variable.name() + levels.names().get(l), x, marked));
      }
    }
    return parts;
  }

  /** The products of all parts; the first variable's runs fastest. */
  private void expand(SortedSet<Integer> term, HashSet<Integer> full) {
    List<Column> all = List.of();
    for (int v : term) {
      List<Column> part = part(v, full.contains(v));
      if (v == term.first()) {
        all = part;
        continue;
      }
      var products = new ArrayList<Column>();
      for (Column b : part) {
        for (Column a : all) {
          var x = new double[sheet.rows()];
          Arrays.setAll(x, i -> a.values()[i] * b.values()[i]);
          products.add(new Column(a.name() + ":" + b.name(), x, a.reference() || b.reference()));
        }
      }
      all = products;
    }
    columns.addAll(all);
  }

  /** As R's make.unique. */
  private void distinctNames() {
    var taken = new HashSet<String>();
    columns.forEach(c -> taken.add(c.name()));
    var seen = new HashSet<String>();
    for (int j = 0; j < columns.size(); j++) {
      Column c = columns.get(j);
      String name = c.name();
      if (!seen.add(name)) {
        int k = 1;
        while (!taken.add(c.name() + "." + k)) {
          k++;
        }
        name = c.name() + "." + k;
      }
      columns.set(j, new Column(name, c.values(), c.reference()));
    }
  }
}
