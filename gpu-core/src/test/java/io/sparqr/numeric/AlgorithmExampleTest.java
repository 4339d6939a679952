/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.backend.cpu.CpuSubtreeFactorizer;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.symbolic.Amalgamation;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.StringJoiner;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The numbers in docs/design/algorithm.md are those of the code, and x is right. */
class AlgorithmExampleTest {

  private static final Path PAGE =
      Path.of(System.getProperty("basedir", "."), "..", "docs/design/algorithm.md");

  /** A levelling network of five heights: two are known, six differences are measured. */
  private static final double[][] A = {
    {1, 0, 0, 0, 0},
    {-1, 1, 0, 0, 0},
    {0, -1, 0, 0, 1},
    {-1, 0, 0, 0, 1},
    {0, 0, 1, 0, 0},
    {0, 0, -1, 1, 0},
    {0, 0, 0, -1, 1},
    {0, 0, -1, 0, 1},
  };

  private static final double[] B = {10.0, 1.02, 1.98, 3.03, 11.0, 0.51, 1.47, 2.01};

  private final StringBuilder text = new StringBuilder();

  private void line(String format, Object... values) {
    text.append(String.format(Locale.ROOT, format, values).stripTrailing()).append('\n');
  }

  private static String number(double value) {
    double shown = Math.abs(value) < 5e-5 ? 0 : value;
    return String.format(Locale.ROOT, "%9.4f", shown);
  }

  private static SymbolicAnalysis analysis(CsrMatrix a) {
    return SymbolicAnalyzer.analyze(
        a.pattern(),
        SymbolicOptions.defaults()
            .withOrdering(OrderingMethod.NATURAL)
            .withAmalgamation(Amalgamation.none())
            .withRhs(1));
  }

  private void tree(SymbolicAnalysis s) {
    for (int f = 0; f < s.fronts(); f++) {
      int front = f;
      String columns =
          IntStream.range(0, s.fn(f))
              .mapToObj(k -> (k == s.fp(front) ? "| " : "") + "x" + s.column(front, k))
              .collect(Collectors.joining(" "));
      line(
          "front %d: columns %s, %d rows, passes on %d, %s",
          f, columns, s.fm(f), s.cm(f), s.parent(f) < 0 ? "root" : "parent " + s.parent(f));
    }
  }

  /** The rows of A and the children's blocks that make up a front, by leftmost column. */
  private void assembled(SymbolicAnalysis s, SubtreeProblem problem) {
    int f = problem.fronts()[0];
    var rows = new ArrayList<double[]>();
    RowBlock block = problem.rows();
    for (int i = 0; i < block.rows(); i++) {
      double[] row = new double[s.fn(f) + 1];
      for (int e = block.rowStart()[i]; e < block.rowStart()[i + 1]; e++) {
        row[local(s, f, block.position()[e])] = block.value()[e];
      }
      row[s.fn(f)] = block.rhs()[i];
      rows.add(row);
    }
    problem.inputs().stream()
        .sorted(Comparator.comparingInt(ContributionBlock::front))
        .forEach(
            child -> {
              for (int i = 0; i < child.cm(); i++) {
                double[] row = new double[s.fn(f) + 1];
                for (int k = i; k < child.cn(); k++) {
                  int position = s.column(child.front(), s.fp(child.front()) + k);
                  row[local(s, f, position)] = child.values()[(int) child.rowOffset(i) + k - i];
                }
                row[s.fn(f)] = child.rhs()[i];
                rows.add(row);
              }
            });
    rows.sort(
        Comparator.comparingInt(
            r -> IntStream.range(0, r.length).filter(k -> r[k] != 0).findFirst().orElse(r.length)));
    line("front %d, assembled (right: b)", f);
    rows.forEach(this::matrixRow);
  }

  private static int local(SymbolicAnalysis s, int f, int position) {
    return IntStream.range(0, s.fn(f))
        .filter(k -> s.column(f, k) == position)
        .findFirst()
        .orElseThrow();
  }

  private void matrixRow(double[] row) {
    var shown = new StringJoiner(" ", "  ", "");
    for (int k = 0; k < row.length - 1; k++) {
      shown.add(number(row[k]));
    }
    line("%s  |%s", shown, number(row[row.length - 1]));
  }

  private void factored(SymbolicAnalysis s, SubtreeFactor factor) {
    FrontFactor r = factor.fronts().get(0);
    line("front %d, rows of R (right: Q'b)", r.front());
    int at = 0;
    for (int i = 0; i < r.rank(); i++) {
      double[] row = new double[r.fn() + 1];
      for (int k = r.livePivot()[i]; k < r.fn(); k++) {
        row[k] = r.values().get(at++);
      }
      row[r.fn()] = r.rhs()[i];
      matrixRow(row);
    }
    for (ContributionBlock c : factor.outputs()) {
      line("front %d, contribution block to front %d", c.front(), s.parent(c.front()));
      for (int i = 0; i < c.cm(); i++) {
        double[] row = new double[r.fn() + 1];
        for (int k = i; k < c.cn(); k++) {
          row[s.fp(c.front()) + k] = c.values()[(int) c.rowOffset(i) + k - i];
        }
        row[r.fn()] = c.rhs()[i];
        matrixRow(row);
      }
    }
    line(
        "front %d, ends here: squares of the rest of Q'b %s",
        r.front(), number(factor.residualSquares()[0]).strip());
  }

  @Test
  void thePageHasTheNumbersAndTheyAreRight() throws IOException {
    CsrMatrix a = TestMatrices.ofDense(A, 5, false);
    SymbolicAnalysis s = analysis(a);
    tree(s);
    double[] ones = {1, 1, 1, 1, 1};
    RowSplit split = RowSplit.of(a, B, 1, s, ones);
    TaskRun run;
    try (var backend = new CpuSubtreeFactorizer()) {
      run =
          TaskRun.run(backend, s, split.rows(), TaskRun.single(s), new FactorOptions(1e-14, 1, 0));
    }
    for (int t = 0; t < run.problems.size(); t++) {
      text.append('\n');
      assembled(s, run.problems.get(t));
      factored(s, run.factors.get(t));
    }
    var factorization =
        new NumericFactorization(
            s, ones, split.singletons(), run.fronts, run.residualSquares, 1e-14, run.summary);
    double[] x = factorization.solve();
    text.append('\n');
    for (int j = 4; j >= 0; j--) {
      line("x%d = %s", j, number(x[j]).strip());
    }
    line("||b - Ax|| = %s", number(Math.sqrt(run.residualSquares[0])).strip());

    // independent: the residual of that x, and its orthogonality to the columns of A
    double[] residual = B.clone();
    for (int i = 0; i < A.length; i++) {
      for (int j = 0; j < 5; j++) {
        residual[i] -= A[i][j] * x[j];
      }
    }
    double limit = Tolerances.of(A.length, 5, Tolerances.norm(B));
    for (int j = 0; j < 5; j++) {
      double sum = 0;
      for (int i = 0; i < A.length; i++) {
        sum += A[i][j] * residual[i];
      }
      assertThat(sum).isCloseTo(0, within(limit));
    }
    assertThat(Math.sqrt(Arrays.stream(residual).map(r -> r * r).sum()))
        .isCloseTo(Math.sqrt(run.residualSquares[0]), within(limit));

    String page = Files.readString(PAGE);
    for (String part : List.of(text.toString().split("\n\n"))) {
      assertThat(page).as("all of it:%n%s", text).contains("```text\n" + part.strip() + "\n```");
    }
  }
}
