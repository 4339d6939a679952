/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.survey;

import io.sparqr.numeric.FactorSummary;
import io.sparqr.numeric.NumericFactorization;
import io.sparqr.numeric.Tolerances;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * One line of the survey: the measured figures, and those that are wrong. The bounds, none of which
 * grows with the problem:
 *
 * <ul>
 *   <li>{@link #DEPARTURE} for the product's own column sums;
 *   <li>{@link #BACKWARD} for the backward errors of R, Q'b and x ({@link RFactorProbe}, {@link
 *       Figures});
 *   <li>{@link Tolerances#ofResidual} between the two residual norms, and to another backend's: the
 *       norm of the residual is as well conditioned as the problem's size (to first order its
 *       change is r'(dA x + db) / ||r||), so that an ill-conditioned matrix is no excuse; what was
 *       dropped of dead columns is added, times ||D x||;
 *   <li>the rank exactly, where {@link Figures#clear} says that there is no doubt of it.
 * </ul>
 */
final class Outcome {

  /** Largest accepted relative departure of the column sums, in units of eps: 4.4e-13. */
  static final double DEPARTURE = 2000;

  /** Largest accepted backward error, in units of eps: 2.2e-13; the host has 1 or 2. */
  static final double BACKWARD = 1000;

  private final SurveyCase problem;
  private final String notRun;
  private final List<String> wrong = new ArrayList<>();
  private final String[] text = {"", ""};
  private Figures figures;
  private FactorSummary summary;
  private int rank;
  private double flops;
  private int mostRank;
  private String otherName = "";

  private Outcome(SurveyCase problem, String notRun) {
    this.problem = problem;
    this.notRun = notRun;
  }

  /** Not run, because something is missing. */
  static Outcome notRun(SurveyCase c, String why) {
    return new Outcome(c, why);
  }

  /** Ended by an error. */
  static Outcome failed(SurveyCase c, Throwable e) {
    var outcome = new Outcome(c, null);
    outcome.wrong.add(e.toString());
    return outcome;
  }

  Outcome(
      SurveyCase c,
      SurveyCase.Instance instance,
      NumericFactorization f,
      Figures figures,
      double analyzeSeconds,
      double factorSeconds,
      String otherName) {
    this(c, null);
    this.figures = figures;
    this.otherName = otherName;
    summary = f.summary();
    rank = f.rank();
    flops = f.analysis().flops();
    mostRank = instance.mostRank();
    text[0] =
        String.format(
            Locale.ROOT,
            "%d x %d | %.2f Gflop | rank %d%s | departure %.1e, done again %d"
                + " | residual %.13e, by x %.13e"
                + " | eps: A'r %.1f (%.1f of r) R'R %.1f Q'b %.1f b'b %.1f"
                + " | analyze %.2f factor %.3f s",
            instance.a().rows(),
            instance.a().columns(),
            f.analysis().flops() * 1e-9,
            rank,
            figures.clear() ? "" : " no gap",
            summary.normDeparture(),
            summary.redoneTasks(),
            figures.tail(),
            figures.residual(),
            figures.normal(),
            figures.normalOfResidual(),
            figures.probe().gram(),
            figures.probe().rightHandSide(),
            figures.split(),
            analyzeSeconds,
            factorSeconds);
    text[1] = " | not compared: too large for " + otherName;
  }

  /** Compares the figures with the bounds. */
  void judge() {
    within("departure", summary.normDeparture() / Tolerances.EPS, DEPARTURE);
    within("A'r", figures.normal(), BACKWARD);
    within("R'R", figures.probe().gram(), BACKWARD);
    within("Q'b", figures.probe().rightHandSide(), BACKWARD);
    within("b'b", figures.split(), BACKWARD);
    within(
        "residual norms",
        Math.abs(figures.tail() - figures.residual()),
        Tolerances.ofResidual(figures.residual(), figures.size()));
    if (summary.redoneTasks() != 0) {
      wrong.add("done again: " + String.join("; ", summary.warnings()));
    }
    if (summary.rank() != rank) {
      wrong.add("the summary's rank is " + summary.rank());
    }
    if (rank > mostRank && figures.clear()) {
      wrong.add("rank above " + mostRank);
    }
  }

  private void within(String what, double value, double bound) {
    // NaN is beyond any bound
    if (!(value <= bound)) {
      wrong.add(String.format(Locale.ROOT, "%s %.2e beyond %.2e", what, value, bound));
    }
  }

  /**
   * Compares them with another backend's.
   *
   * @param clear whether its rank is {@link Figures#clear}
   * @param dropped by the backend under survey
   */
  void compare(NumericFactorization f, boolean clear, double dropped, double seconds) {
    boolean same = f.rank() == rank;
    double otherTail = Math.sqrt(f.residualSquares()[0]);
    double difference = Math.abs(otherTail - figures.tail());
    if (!same && clear) {
      wrong.add("rank " + rank + ", of " + otherName + " " + f.rank());
    }
    if (same || clear) {
      double bound = Tolerances.ofResidual(otherTail, figures.size());
      within(
          "residual norm and that of " + otherName,
          difference,
          bound + (dropped + Figures.dropped(f)) * figures.size());
    }
    text[1] =
        String.format(
            Locale.ROOT,
            " | %s %.3f s, rank %s, residual %.1e",
            otherName,
            seconds,
            same ? "same" : f.rank() + (clear ? "" : " no gap"),
            difference / (otherTail == 0 ? 1 : otherTail));
  }

  /** Compares the rank with that of the same matrix in another order. */
  void compareRank(Outcome before) {
    boolean clear = figures != null && before.figures != null;
    if (clear && figures.clear() && before.figures.clear() && rank != before.rank) {
      wrong.add("rank " + rank + ", as " + before.problem + " " + before.rank);
    }
  }

  SurveyCase problem() {
    return problem;
  }

  boolean isWrong() {
    return !wrong.isEmpty();
  }

  boolean wasRun() {
    return notRun == null;
  }

  /** Null where there are none. */
  Figures figures() {
    return figures;
  }

  double flops() {
    return flops;
  }

  FactorSummary summary() {
    return summary;
  }

  @Override
  public String toString() {
    if (notRun != null) {
      return problem + " | not run: " + notRun;
    }
    String verdict = wrong.isEmpty() ? "ok" : "WRONG: " + String.join("; ", wrong);
    return problem + " | " + (text[0].isEmpty() ? "" : text[0] + text[1] + " | ") + verdict;
  }
}
