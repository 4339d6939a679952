/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.spark.report.LeastSquaresSolution;
import io.sparqr.spark.report.SolveReport;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Right answers pass the campaign's checks; each check sees a wrong one. */
@Tag("numbers")
class PlantedErrorsTest {

  /** 12 x 5, integers, full rank, one right-hand side that is not in the range. */
  private static final CampaignProblem PROBLEM = problem(0);

  private static CampaignProblem problem(double near) {
    var random = new Random(7);
    double[][] a = new double[12][5];
    double[] b = new double[12];
    for (int i = 0; i < 12; i++) {
      for (int j = 0; j < 5; j++) {
        a[i][j] = random.nextInt(19) - 9;
      }
      a[i][4] = near == 0 ? a[i][4] : a[i][0] + near * a[i][4];
      b[i] = random.nextInt(19) - 9;
    }
    return new CampaignProblem(
        "planted", 0, Family.Kind.GAP, Family.sparse(a, 5), new double[][] {b});
  }

  private static Answer answer(OptionSet options, CampaignProblem p) {
    return options.solve(p, new Random(1)).get(0);
  }

  /** What is found in an answer that has been changed. */
  private static List<Check> found(OptionSet options, UnaryOperator<LeastSquaresSolution> change) {
    var checks = new AnswerChecks(PROBLEM);
    assertThat(checks.run(OptionSet.DEFAULT)).isEqualTo(1);
    assertThat(checks.findings()).as("without an error").isEmpty();
    Answer right = answer(options, PROBLEM);
    checks.check(options, new Answer(change.apply(right.solution()), right.b(), right.weights()));
    return checks.findings().stream().map(AnswerChecks.Finding::check).toList();
  }

  private static LeastSquaresSolution with(
      LeastSquaresSolution s, double[] x, double norm, int rank) {
    return new LeastSquaresSolution(
        new double[][] {x}, new double[] {norm}, rank, s.deadColumns(), s.report());
  }

  private static LeastSquaresSolution moved(LeastSquaresSolution s, double by) {
    double[] x = s.x().clone();
    x[2] += by;
    Scaled norm = ExactResidual.norm(PROBLEM.a(), x, PROBLEM.b()[0], PROBLEM.ones());
    return with(s, x, norm.value(), s.rank());
  }

  @Test
  void rightAnswersPass() {
    var checks = new AnswerChecks(PROBLEM);
    for (OptionSet o : OptionSet.values()) {
      if (!o.onSpark() && o != OptionSet.DEVICE) {
        checks.run(o);
      }
    }
    assertThat(checks.findings()).isEmpty();
  }

  @Test
  void aFalseNorm() {
    assertThat(found(OptionSet.AMD, s -> with(s, s.x(), s.residualNorm() * 1.00001, 5)))
        .containsExactly(Check.NORM);
    assertThat(found(OptionSet.AMD, s -> with(s, s.x(), 0.9 * s.residualNorm(), 5)))
        .containsExactly(Check.NORM, Check.NORM_FAR);
  }

  @Test
  void noNumber() {
    assertThat(found(OptionSet.AMD, s -> with(s, new double[] {1, 2, Double.NaN, 4, 5}, 1, 5)))
        .containsExactly(Check.FINITE);
    assertThat(found(OptionSet.AMD, s -> with(s, s.x(), Double.POSITIVE_INFINITY, 5)))
        .containsExactly(Check.FINITE);
  }

  @Test
  void aWrongRank() {
    assertThat(found(OptionSet.AMD, s -> with(s, s.x(), s.residualNorm(), 4)))
        .containsExactly(Check.RANK);
    assertThat(found(OptionSet.CHECKED, s -> with(s, s.x(), s.residualNorm(), 4)))
        .containsExactly(Check.AGREEMENT, Check.RANK);
  }

  @Test
  void anotherMinimizer() {
    assertThat(found(OptionSet.AMD, s -> moved(s, 1e-4))).containsExactly(Check.LEAST);
    assertThat(found(OptionSet.REFINED, s -> moved(s, 1e-2)))
        .containsExactly(Check.LEAST, Check.REFINEMENT);
  }

  @Test
  void aFalseGradient() {
    assertThat(
            found(
                OptionSet.CHECKED,
                s -> {
                  var check = new SolveReport.Check(1e-3, 1e-3, 1e-3, "planted");
                  var residual =
                      new SolveReport.Residual(s.residualNorms(), SolveReport.Residual.TAIL, check);
                  SolveReport report = s.report().withResidual(residual, s.report().seconds());
                  return new LeastSquaresSolution(
                      s.solutions(), s.residualNorms(), 5, s.deadColumns(), report);
                }))
        .containsExactly(Check.GRADIENT);
  }

  @Test
  void aConstraintThatDoesNotHold() {
    var checks = new AnswerChecks(PROBLEM);
    Answer free = answer(OptionSet.DEFAULT, PROBLEM);
    checks.check(OptionSet.CONSTRAINED, free);
    assertThat(checks.findings())
        .extracting(AnswerChecks.Finding::check)
        .containsExactly(Check.CONSTRAINT);
  }

  /** Columns that differ by 1e-9, and a report without a word about it. */
  @Test
  void silence() {
    CampaignProblem near = problem(1e-9);
    var checks = new AnswerChecks(near);
    LeastSquaresSolution s = answer(OptionSet.DEFAULT, PROBLEM).solution();
    double[] x = new double[5];
    double norm = ExactResidual.norm(near.a(), x, near.b()[0], near.ones()).value();
    checks.check(OptionSet.NO_RANK_TEST, new Answer(with(s, x, norm, 5), near.b(), near.ones()));
    assertThat(checks.findings()).extracting(AnswerChecks.Finding::check).contains(Check.SILENT);
  }

  @Test
  void anErrorWhereThereIsAnAnswer() {
    double[] nan = PROBLEM.b()[0].clone();
    nan[3] = Double.NaN;
    var problem =
        new CampaignProblem("planted", 0, Family.Kind.GAP, PROBLEM.a(), new double[][] {nan});
    var checks = new AnswerChecks(problem);
    checks.run(OptionSet.DEFAULT);
    assertThat(checks.findings())
        .extracting(AnswerChecks.Finding::check)
        .containsExactly(Check.ERROR);
  }

  @Test
  void aRankThatNoViewSupports() {
    double[][] cos = new double[16][16];
    for (double[] row : cos) {
      int i = Arrays.asList(cos).indexOf(row);
      Arrays.setAll(row, j -> Math.cos(i * j / 14.0));
    }
    var problem =
        new CampaignProblem(
            "planted",
            0,
            Family.Kind.NO_GAP,
            Family.sparse(cos, 16),
            new double[][] {new double[16]});
    var checks = new AnswerChecks(problem);
    LeastSquaresSolution s = answer(OptionSet.DEFAULT, problem).solution();
    checks.check(
        OptionSet.AMD, new Answer(with(s, new double[16], 0, 3), problem.b(), problem.ones()));
    assertThat(checks.findings())
        .extracting(AnswerChecks.Finding::check)
        .containsExactly(Check.IMPLAUSIBLE);
  }
}
