/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign;

import io.sparqr.error.SparseQrException;
import io.sparqr.numeric.Tolerances;
import io.sparqr.sparse.CsrMatrix;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** Holds the answers to one problem against the truth. */
final class AnswerChecks {

  /** What is printed agrees with x to this, relative to the true norm ... */
  private static final double NORM = 1e-6;

  /** ... or to this, relative to ||b||. */
  private static final double NORM_OF_B = 1e-12;

  /** The condition above which a report must say so: estimates of 1e7 may be low by a digit. */
  private static final double CONDITION = 1e8;

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

  private void check(OptionSet options, Answer answer) {
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
      silence(options, answer);
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

  private void norm(OptionSet options, Answer answer, int k, Scaled norm) {
    Scaled printed = Scaled.of(answer.solution().residualNorms()[k]);
    Scaled off = printed.minus(norm).abs();
    double[] zero = new double[problem.a().columns()];
    Scaled b = ExactResidual.norm(problem.a(), zero, answer.b()[k], answer.weights());
    if (!off.atMost(norm.times(NORM)) && !off.atMost(b.times(NORM_OF_B))) {
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

  private void refinement(OptionSet options, Scaled[] norm) {
    for (int k = 0; normOfDefault != null && k < norm.length; k++) {
      Scaled slack =
          normOfDefault[k]
              .times(NORM)
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

  private void silence(OptionSet options, Answer answer) {
    if (answer.warned()) {
      return;
    }
    int[] dead = answer.solution().deadColumns();
    int live = problem.a().columns() - dead.length;
    DenseSvd svd =
        dead.length == 0 ? oracle.equilibrated() : DenseSvd.equilibrated(without(dead));
    double condition =
        live > svd.sigma().length ? Double.POSITIVE_INFINITY : svd.condition(live);
    if (condition > CONDITION) {
      add(Check.SILENT, options, "condition %.1e, rank %d".formatted(condition, live));
    }
  }

  /** A without some columns. */
  private CsrMatrix without(int[] columns) {
    CsrMatrix a = problem.a();
    int n = a.columns();
    int[] place = new int[n];
    int live = 0;
    for (int j = 0; j < n; j++) {
      place[j] = Arrays.binarySearch(columns, j) >= 0 ? -1 : live++;
    }
    int[] start = new int[a.rows() + 1];
    int[] index = new int[a.nonzeros()];
    double[] values = new double[a.nonzeros()];
    int at = 0;
    for (int i = 0; i < a.rows(); i++) {
      for (int k = a.rowStart()[i]; k < a.rowStart()[i + 1]; k++) {
        int j = place[a.columnIndex()[k]];
        if (j >= 0) {
          index[at] = j;
          values[at++] = a.values()[k];
        }
      }
      start[i + 1] = at;
    }
    return new CsrMatrix(
        a.rows(), live, start, Arrays.copyOf(index, at), Arrays.copyOf(values, at));
  }
}
