/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.survey;

import io.sparqr.numeric.Tolerances;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Counts of a survey and its worst figures, each with its problem. */
final class Tally {

  private record Worst(double value, SurveyCase problem) {}

  private final Map<String, Worst> worst = new LinkedHashMap<>();
  private final List<SurveyCase> wrong = new ArrayList<>();
  private int run;
  private int notRun;
  private int large;

  void add(Outcome outcome) {
    if (!outcome.wasRun()) {
      notRun++;
      return;
    }
    run++;
    if (outcome.isWrong()) {
      wrong.add(outcome.problem());
    }
    Figures f = outcome.figures();
    if (f == null) {
      return;
    }
    large += outcome.flops() >= 1e11 ? 1 : 0;
    more("departure", outcome.summary().normDeparture() / Tolerances.EPS, outcome);
    more("A'r", f.normal(), outcome);
    more("R'R", f.probe().gram(), outcome);
    more("Q'b", f.probe().rightHandSide(), outcome);
    more("b'b", f.split(), outcome);
    double norms = Math.abs(f.tail() - f.residual());
    more(
        "residual norms in parts of their bound",
        norms == 0 ? 0 : norms / Tolerances.ofResidual(f.residual(), f.size()),
        outcome);
  }

  private void more(String what, double value, Outcome outcome) {
    worst.merge(
        what,
        new Worst(value, outcome.problem()),
        // NaN is the worst
        (a, b) -> a.value >= b.value || Double.isNaN(a.value) ? a : b);
  }

  /** 0 if all are right. */
  int exitCode() {
    return wrong.isEmpty() ? 0 : 1;
  }

  @Override
  public String toString() {
    var text = new StringBuilder();
    worst.forEach(
        (what, w) ->
            text.append(
                String.format(Locale.ROOT, "worst %s: %.3g of %s%n", what, w.value, w.problem)));
    for (SurveyCase c : wrong) {
      text.append("wrong: ").append(c).append(System.lineSeparator());
    }
    return text
        + "%d problems, %d of 100 Gflop and more, %d WRONG, %d not run: refused, or for lack of memory"
            .formatted(run, large, wrong.size(), notRun);
  }
}
