/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign;

import io.sparqr.error.SparseQrException;
import io.sparqr.numeric.Tolerances;
import io.sparqr.sparse.CsrMatrix;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Holds the answers to one problem against the truth. */
final class AnswerChecks {

  private static final Pattern WITHIN = Pattern.compile("known only to within ([\\d.]+e[-+]\\d+)");

  /** Where x is computed to eight digits and more, its norm is compared to as many. */
  private static final double CONDITION_OF_NORM = 1e6;

  /** Something wrong. */
  record Finding(Check check, OptionSet options, String what) {}

  private final CampaignProblem problem;
  private final RankOracle oracle;
  private final List<Finding> findings = new ArrayList<>();
  private final Scaled[] least;

  /** The default answer's true norms and sizes; null before it is known. */
  private Scaled[] normOfDefault;

  private Scaled[] sizeOfDefault;
  private int rankOfDefault = -1;

  AnswerChecks(CampaignProblem problem) {
    this.problem = problem;
    this.oracle = RankOracle.of(problem.a(), problem.kind());
    this.least = new Scaled[problem.b().length];
  }

  RankOracle oracle() {
    return oracle;
  }

  List<Finding> findings() {
    return findings;
  }

  /** Solves with these options and checks what comes; returns the number of solutions. */
  int run(OptionSet options) {
    List<Answer> answers;
    try {
      answers = options.solve(problem, problem.random(options.ordinal()));
    } catch (SparseQrException e) {
      if (!problem.kind().outOfRange()) {
        add(Check.ERROR, options, e.toString());
      }
      return 1;
    } catch (RuntimeException | Error e) {
      if (!expected(options, e)) {
        add(Check.ERROR, options, e.toString());
      }
      return 1;
    }
    for (Answer answer : answers) {
      check(options, answer);
    }
    return answers.size();
  }

  /** A constraint that the columns in use cannot tell from another one is a documented error. */
  private static boolean expected(OptionSet options, Throwable e) {
    return options == OptionSet.CONSTRAINED && e instanceof IllegalArgumentException;
  }

  private void add(Check check, OptionSet options, String what) {
    findings.add(new Finding(check, options, what));
  }

  /** Checks an answer. */
  void check(OptionSet options, Answer answer) {
    double[][] x = answer.solution().solutions();
    double[] printed = answer.solution().residualNorms();
    boolean finite = Arrays.stream(printed).allMatch(Double::isFinite);
    for (double[] column : x) {
      finite &= Arrays.stream(column).allMatch(Double::isFinite);
    }
    if (!finite) {
      add(Check.FINITE, options, "x or its norm " + Arrays.toString(printed));
      return;
    }
    boolean rightRank = rank(options, answer);
    var norm = new Scaled[x.length];
    var size = new Scaled[x.length];
    for (int k = 0; k < x.length; k++) {
      norm[k] = ExactResidual.norm(problem.a(), x[k], answer.b()[k], answer.weights());
      size[k] = ExactResidual.size(problem.a(), x[k], answer.b()[k], answer.weights());
      norm(options, answer, k, norm[k]);
      if (rightRank && options.ranksByDefault() && answer.b() == problem.b()) {
        least(options, answer, k, norm[k], size[k]);
      }
    }
    if (options == OptionSet.DEFAULT) {
      normOfDefault = norm;
      sizeOfDefault = size;
      rankOfDefault = answer.solution().rank();
    }
    if (options == OptionSet.REFINED || options == OptionSet.REFINED_ONCE) {
      refinement(options, norm);
    }
    if (options == OptionSet.CONSTRAINED) {
      constraints(x);
    }
    if (options == OptionSet.DEFAULT || options == OptionSet.NO_RANK_TEST) {
      new ConditionCheck(problem.a(), oracle.equilibrated())
          .run(answer, (check, what) -> add(check, options, what));
    }
    if (options == OptionSet.MINIMUM_NORM && rightRank) {
      leastNorm(options, answer);
    }
    if (options == OptionSet.CHECKED) {
      gradient(answer, size);
    }
  }

  /** Whether the rank is the clear one. */
  private boolean rank(OptionSet options, Answer answer) {
    int rank = answer.solution().rank();
    if (options.likeDefault() && rankOfDefault >= 0 && rank != rankOfDefault) {
      add(Check.AGREEMENT, options, "rank %d, by default %d".formatted(rank, rankOfDefault));
    }
    if (options.ranksByDefault() && oracle.wrong(rank)) {
      Check check = oracle.clear() >= 0 ? Check.RANK : Check.IMPLAUSIBLE;
      String warned = answer.warned() ? ", with a warning" : "";
      add(check, options, "rank %d: %s%s".formatted(rank, oracle, warned));
    }
    return rank == oracle.clear();
  }

  /** Within what the answer itself says that its norm is known; 0: to all digits promised. */
  private static Scaled within(Answer answer) {
    return answer.solution().report().warnings().stream()
        .map(WITHIN::matcher)
        .filter(Matcher::find)
        .map(m -> Scaled.of(Double.parseDouble(m.group(1))))
        .findFirst()
        .orElse(Scaled.of(0));
  }

  private void norm(OptionSet options, Answer answer, int k, Scaled norm) {
    Scaled printed = Scaled.of(answer.solution().residualNorms()[k]);
    Scaled off = printed.minus(norm).abs();
    double[] zero = new double[problem.a().columns()];
    Scaled b = ExactResidual.norm(problem.a(), zero, answer.b()[k], answer.weights());
    boolean rounded = off.atMost(Scaled.of(4 * Double.MIN_VALUE)) || off.atMost(within(answer));
    if (!rounded
        && !off.atMost(norm.times(Tolerances.PRINTED_NORM))
        && !off.atMost(b.times(Tolerances.PRINTED_NORM_OF_B))) {
      String what = "printed %s, true %s, ||b|| %s".formatted(printed, norm, b);
      add(Check.NORM, options, what);
      if (!off.atMost(b.times(1e-3))) {
        add(Check.NORM_FAR, options, what);
      }
    }
  }

  private void least(OptionSet options, Answer answer, int k, Scaled norm, Scaled size) {
    if (answer.weights() != null && options == OptionSet.WEIGHTED) {
      return;
    }
    if (least[k] == null) {
      least[k] = least(k);
    }
    Scaled slack =
        norm.times(Tolerances.RESIDUAL).plus(size.times(Tolerances.UNITS * Tolerances.EPS));
    if (!norm.atMost(least[k].plus(slack))) {
      add(Check.LEAST, options, "||b - Ax|| is %s, possible %s".formatted(norm, least[k]));
    }
  }

  /** The least norm known: exact, or that of the SVD's solution. */
  private Scaled least(int k) {
    double[] b = problem.b()[k];
    CsrMatrix a = problem.a();
    if (oracle.clear() == oracle.exact()) {
      Optional<Scaled> exact = ExactLeastSquares.norm(a, oracle.independent(), b);
      if (exact.isPresent()) {
        return exact.get();
      }
    }
    double[] x = oracle.equilibrated().solve(b, oracle.clear());
    boolean finite = Arrays.stream(x).allMatch(Double::isFinite);
    return ExactResidual.norm(a, finite ? x : new double[x.length], b, problem.ones());
  }

  /** x against that of the SVD of A, which is of least norm. */
  private void leastNorm(OptionSet options, Answer answer) {
    DenseSvd svd = oracle.plain();
    int rank = oracle.clear();
    if (svd.rank() != rank || svd.condition(rank) > CONDITION_OF_NORM) {
      return;
    }
    for (int k = 0; k < problem.b().length; k++) {
      Scaled norm = norm(answer.solution().x(k));
      Scaled least = norm(svd.solve(problem.b()[k], rank));
      if (!norm.atMost(least.times(1 + Tolerances.FIGURE))) {
        add(Check.LEAST, options, "||x|| is %s, possible %s".formatted(norm, least));
      }
    }
  }

  private static Scaled norm(double[] x) {
    return Scaled.norm(Arrays.stream(x).mapToObj(Scaled::of).toArray(Scaled[]::new));
  }

  /** The measured ||A'r|| / (||A||_F ||r||), as far as sums of doubles can tell it. */
  private void gradient(Answer answer, Scaled[] size) {
    if (!(answer.reported("normalResidual") instanceof Double printed)) {
      return;
    }
    double most = 0;
    double slack = 0;
    for (int k = 0; k < size.length; k++) {
      Scaled[] r = ExactResidual.of(problem.a(), answer.solution().x(k), answer.b()[k]);
      Scaled norm = Scaled.norm(r);
      if (norm.mantissa() != 0 && problem.a().nonzeros() > 0) {
        most = Math.max(most, ExactResidual.gradient(problem.a(), r));
        double units = size[k].in(norm.exponent()) / norm.mantissa();
        slack = Math.max(slack, Tolerances.UNITS * Tolerances.EPS * units);
      }
    }
    if (!(Math.abs(printed - most) <= Tolerances.PRINTED_GRADIENT * most + slack)) {
      add(Check.GRADIENT, OptionSet.CHECKED, "printed %s, true %s".formatted(printed, most));
    }
  }

  private void refinement(OptionSet options, Scaled[] norm) {
    for (int k = 0; normOfDefault != null && k < norm.length; k++) {
      Scaled slack =
          normOfDefault[k]
              .times(Tolerances.PRINTED_NORM)
              .plus(sizeOfDefault[k].times(Tolerances.UNITS * Tolerances.EPS));
      if (!norm[k].atMost(normOfDefault[k].plus(slack))) {
        String what = "||b - Ax|| %s, %s without".formatted(norm[k], normOfDefault[k]);
        add(Check.REFINEMENT, options, what);
      }
    }
  }

  private void constraints(double[][] x) {
    for (double[] column : x) {
      var sum = new ExactSum();
      double size = 1;
      for (double v : column) {
        sum.add(v);
        size = Math.max(size, Math.abs(v));
      }
      double slack = Tolerances.UNITS * Tolerances.EPS * size;
      double second = column.length == 1 ? 0 : Math.abs(sum.value().value());
      if (!(Math.abs(column[0] - 1) <= slack && second <= slack * column.length)) {
        String what = "x_0 = %s, sum %s".formatted(column[0], second);
        add(Check.CONSTRAINT, OptionSet.CONSTRAINED, what);
      }
    }
  }
}
