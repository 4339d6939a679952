/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign.regression;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;

/**
 * A regression.
 *
 * @param number by which it can be repeated, with the seed
 * @param kinds of term, effects, weights, missing values, errors
 */
record RegressionCase(
    long seed,
    long number,
    List<String> kinds,
    Sheet sheet,
    FormulaTree formula,
    RegressionOptions options) {

  /** The formula as it is asked for, with C() for factor() now and then. */
  String formulaText() {
    return number % 2 == 0 ? formula.text() : formula.text().replace("factor(", "C(");
  }

  /** Columns that a dot does not stand for. */
  private List<String> taken() {
    var taken = new ArrayList<String>(options.clusters());
    taken.add(formula.response().column());
    taken.add(options.weights());
    taken.add(options.offset());
    formula.effects().forEach(e -> taken.addAll(e.columns()));
    return taken;
  }

  TermList terms() {
    List<String> taken = taken();
    return new TermList(formula, sheet.names().stream().filter(c -> !taken.contains(c)).toList());
  }

  /** The rows in which nothing is missing that is asked for. */
  List<Integer> rows() {
    TermList terms = terms();
    var all = new LinkedHashSet<Variable>(terms.variables());
    all.add(formula.response());
    all.addAll(terms.offsets());
    formula.effects().forEach(e -> e.columns().forEach(c -> all.add(Variable.of(c))));
    options.clusters().forEach(c -> all.add(Variable.of(c)));
    List.of(options.weights(), options.offset())
        .forEach(c -> all.addAll(c.isEmpty() ? List.of() : List.of(Variable.of(c))));
    var rows = new ArrayList<Integer>();
    for (int i = 0; i < sheet.rows(); i++) {
      int row = i;
      if (all.stream().noneMatch(v -> v.missing(sheet.column(v.column()), row))) {
        rows.add(i);
      }
    }
    return rows;
  }

  RegressionCase with(Sheet other) {
    return new RegressionCase(seed, number, kinds, other, formula, options);
  }

  @Override
  public String toString() {
    return "case %d of seed %d (%s): %s, %s"
        .formatted(number, seed, String.join(", ", kinds), formulaText(), options);
  }
}
