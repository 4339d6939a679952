/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.survey;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.backend.cpu.CpuBackendProvider;
import io.sparqr.backend.reference.HeathFactorizer;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.FrontFactor;
import io.sparqr.numeric.NumericFactorization;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeFactorizer;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.TestMatrices;
import io.sparqr.numeric.integrity.CheckedFactorizer;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The survey on small members of its families, and its reports of wrong results. */
class SurveyTest {

  private static final List<String> SMALL =
      List.of(
          "ch4-5-b2",
          "nug5",
          "cells2d12",
          "cells3d6",
          "grad3d6",
          "onehot2000x30x8x5",
          "dense:120x70",
          "dense:3000x10",
          "blocks:3x30x12x7",
          "stairs:5x30x12x7",
          "band:200x100x20",
          "sparse:300x100x4",
          "dense:100x60:seed=5:units=40x300:dependent=7:consistent@nd",
          "dense:300x90:seed=6:norank@natural",
          "stairs:5x40x20x9:seed=7:dependent=12:raw@colamd",
          "cells2d15:seed=8:raw:units=50x8@nd");

  private record Result(int code, String text) {
    long lines(String ending) {
      return text.lines().filter(l -> l.contains(" | ") && l.contains(ending)).count();
    }
  }

  private static Result survey(String... arguments) {
    var bytes = new ByteArrayOutputStream();
    int code = Survey.run(List.of(arguments), new PrintStream(bytes, true, StandardCharsets.UTF_8));
    return new Result(code, bytes.toString(StandardCharsets.UTF_8));
  }

  @ParameterizedTest
  @ValueSource(strings = {"cpu", "reference"})
  void smallMembersOfAllFamiliesAreRight(String backend) {
    var arguments = new ArrayList<>(List.of("list", "--backend", backend, "--seeds", "11,12"));
    arguments.addAll(SMALL);
    Result r = survey(arguments.toArray(String[]::new));
    assertThat(r.code).as(r.text).isZero();
    // by family: values x seeds x orders; dense ones have one order
    assertThat(r.lines("| ok")).as(r.text).isEqualTo(3 * 6 + 8 + 2 * 4 + 2 * 2 + 4 * 4 + 4);
    assertThat(r.lines("rank same")).as(r.text).isEqualTo(r.lines("| ok"));
    assertThat(r.text).contains(" 0 WRONG");
  }

  @ParameterizedTest
  @ValueSource(strings = {"cpu", "reference"})
  void randomProblemsAreRightAndHalfOfThemLarge(String backend) {
    Result r =
        survey(
            ("sweep 1e9 3 --problems 16 --large 0.002 --most 0.02 --backend " + backend)
                .split(" "));
    assertThat(r.code).as(r.text).isZero();
    assertThat(r.lines("| ok")).as(r.text).isEqualTo(16);
    Result again =
        survey(
            ("sweep 1e9 3 --problems 6 --large 0.002 --most 0.02 --backend " + backend).split(" "));
    assertThat(problems(r).subList(0, 6)).isEqualTo(problems(again));
  }

  private static List<String> problems(Result r) {
    return r.text.lines().filter(l -> l.contains(" | ")).map(l -> l.split(" ")[0]).toList();
  }

  @Test
  void aFileIsRunTallWayUp(@TempDir Path folder) throws Exception {
    Path file = folder.resolve("wide.mtx");
    Files.writeString(
        file,
        "%%MatrixMarket matrix coordinate real general\n2 3 5\n1 1 2\n1 2 1\n2 1 1\n2 2 4\n2 3 -1\n");
    Result r = survey("list", "--backend", "cpu", "--values", "true", file.toString());
    assertThat(r.code).as(r.text).isZero();
    assertThat(r.lines("3 x 2 |")).as(r.text).isEqualTo(2);
  }

  @Test
  void whatThereIsNoTimeForIsNamed() {
    Result r = survey("list", "--backend", "cpu", "--seconds", "0", "cells2d9", "nug4@nd");
    assertThat(r.code).isZero();
    assertThat(r.lines("not run: no time left")).as(r.text).isEqualTo(7);
    assertThat(r.text).contains("time is up: 7 not run");
  }

  @Test
  void aPartByExpressionAndNoOtherArguments() {
    Result r = survey("list", "--backend", "cpu", "--seconds", "0", "--only", "nug20:rand.*@nd");
    assertThat(r.lines("not run")).as(r.text).isEqualTo(3);
    assertThatThrownBy(() -> survey("list", "--backend", "gpu"))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> survey("list", "--seed", "1"))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> survey("list", "--backend", "cpu", "nug4:odd@nd"))
        .isInstanceOf(IllegalArgumentException.class);
  }

  // Errors planted behind the product's own checks.

  private static final List<String> PLANTED =
      List.of(
          "cells2d12@nd",
          "ch4-5-b2@colamd",
          "nug5:rand@nd",
          "onehot2000x30x8x5@colamd",
          "dense:120x70@natural",
          "stairs:5x30x12x7@nd");

  private record Spoiled(SubtreeFactorizer right, UnaryOperator<SubtreeFactor> change)
      implements SubtreeFactorizer {
    @Override
    public SubtreeFactor factor(SubtreeProblem problem, FactorOptions options) {
      return change.apply(right.factor(problem, options));
    }

    @Override
    public String description() {
      return right.description();
    }

    @Override
    public void close() {
      right.close();
    }
  }

  private static Result planted(
      String name, UnaryOperator<SubtreeFactor> change, double factorOfX, double mostFlops) {
    var checked =
        new CheckedFactorizer(
            new CpuBackendProvider().create(0), new CpuBackendProvider().create(0));
    var bytes = new ByteArrayOutputStream();
    var out = new PrintStream(bytes, true, StandardCharsets.UTF_8);
    var spoiled = new Spoiled(checked, change);
    try (var runner =
        new CaseRunner(spoiled, new HeathFactorizer(), mostFlops) {
          @Override
          double[] solve(NumericFactorization f) {
            return Arrays.stream(super.solve(f)).map(v -> v * factorOfX).toArray();
          }
        }) {
      int code = Survey.run(List.of("list", name), out, runner);
      return new Result(code, bytes.toString(StandardCharsets.UTF_8));
    }
  }

  private static void isWrong(Result r, String what) {
    assertThat(r.code).as(r.text).isEqualTo(1);
    assertThat(r.lines("WRONG:")).as(r.text).isEqualTo(1);
    assertThat(r.text).contains(" 1 WRONG").contains(what);
  }

  /** The front with the most rows of R, changed. */
  private static SubtreeFactor changed(SubtreeFactor f, UnaryOperator<FrontFactor> change) {
    var fronts = new ArrayList<>(f.fronts());
    int most = 0;
    for (int k = 0; k < fronts.size(); k++) {
      most = fronts.get(k).rank() > fronts.get(most).rank() ? k : most;
    }
    fronts.set(most, change.apply(fronts.get(most)));
    return new SubtreeFactor(fronts, f.outputs(), f.residualSquares(), f.summary());
  }

  private static FrontFactor scaled(FrontFactor f, int value, int rhs) {
    double[] values = TestMatrices.rowsOfR(f);
    double[] c = f.rhs().clone();
    for (int k = 0; k < values.length; k++) {
      values[k] *= k == value ? 1 + 1e-10 : 1;
    }
    for (int k = 0; k < c.length; k++) {
      c[k] *= k == rhs ? 1 + 1e-10 : 1;
    }
    return new FrontFactor(f.front(), f.fn(), f.livePivot(), values, c, f.rhsCount());
  }

  @Test
  void nothingPlantedNothingWrong() {
    for (String name : PLANTED) {
      Result r = planted(name, f -> f, 1, 1e12);
      assertThat(r.code).as(r.text).isZero();
    }
  }

  @Test
  void anEntryOfRThatIsOffIsWrong() {
    for (String name : PLANTED) {
      isWrong(planted(name, f -> changed(f, g -> scaled(g, 0, -1)), 1, 0), "R'R");
    }
  }

  @Test
  void anEntryOfTransformedRightHandSideThatIsOffIsWrong() {
    for (String name : PLANTED) {
      isWrong(planted(name, f -> changed(f, g -> scaled(g, -1, largest(g.rhs()))), 1, 0), "Q'b");
    }
  }

  private static int largest(double[] c) {
    int at = 0;
    for (int k = 1; k < c.length; k++) {
      at = Math.abs(c[k]) > Math.abs(c[at]) ? k : at;
    }
    return at;
  }

  @Test
  void aResidualNormThatIsOffIsWrong() {
    for (String name : PLANTED) {
      UnaryOperator<SubtreeFactor> change =
          f -> {
            double[] squares = {f.residualSquares()[0] * (1 + 1e-10)};
            return new SubtreeFactor(f.fronts(), f.outputs(), squares, f.summary());
          };
      isWrong(planted(name, change, 1, 0), "residual norms");
      isWrong(planted(name, change, 1, 1e12), "residual norm and that of");
    }
  }

  @Test
  void anAnswerThatIsOffIsWrong() {
    for (String name : PLANTED) {
      isWrong(planted(name, f -> f, 1 + 1e-9, 0), "A'r");
      isWrong(planted(name, f -> f, Double.NaN, 0), "A'r NaN");
    }
  }

  @Test
  void aRankThatIsOffByOneIsWrong() {
    for (String name : PLANTED) {
      Result r = planted(name, f -> changed(f, SurveyTest::withoutLastRow), 1, 1e12);
      isWrong(r, "the summary's rank is");
      assertThat(r.text).containsPattern("rank \\d+, of reference \\(Heath\\) \\d+");
    }
  }

  /** As if the last pivot were dead. */
  private static FrontFactor withoutLastRow(FrontFactor f) {
    int rank = f.rank() - 1;
    int length = f.length() - (f.fn() - f.livePivot()[rank]);
    return new FrontFactor(
        f.front(),
        f.fn(),
        Arrays.copyOf(f.livePivot(), rank),
        Arrays.copyOf(TestMatrices.rowsOfR(f), length),
        Arrays.copyOf(f.rhs(), rank * f.rhsCount()),
        f.rhsCount());
  }

  @Test
  void aTaskThatWasDoneAgainAndAnErrorAreWrong() {
    UnaryOperator<SubtreeFactor> again =
        f ->
            new SubtreeFactor(
                f.fronts(),
                f.outputs(),
                f.residualSquares(),
                f.summary().doneAgain(List.of("for a test")));
    isWrong(planted("nug5@nd", again, 1, 0), "done again: for a test");
    UnaryOperator<SubtreeFactor> departed =
        f ->
            new SubtreeFactor(
                f.fronts(), f.outputs(), f.residualSquares(), f.summary().withDeparture(1e-12));
    isWrong(planted("nug5@nd", departed, 1, 0), "departure");
    UnaryOperator<SubtreeFactor> error =
        f -> {
          throw new IllegalStateException("planted");
        };
    isWrong(planted("nug5@nd", error, 1, 0), "planted");
  }

  @Test
  void aSweepStopsAtTheFirstThatIsWrongAndSaysHowToRepeatIt() {
    var bytes = new ByteArrayOutputStream();
    var spoiled =
        new Spoiled(new CpuBackendProvider().create(0), f -> changed(f, g -> scaled(g, 0, -1)));
    try (var runner = new CaseRunner(spoiled, new HeathFactorizer(), 0)) {
      var arguments = List.of("sweep", "1e9", "4", "--large", "0.001", "--most", "0.01");
      int code =
          Survey.run(arguments, new PrintStream(bytes, true, StandardCharsets.UTF_8), runner);
      var r = new Result(code, bytes.toString(StandardCharsets.UTF_8));
      isWrong(r, "repeat: survey.sh list '" + problems(r).get(problems(r).size() - 1) + "'");
    }
  }
}
