/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.ordering.dissection.NestedDissection;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.symbolic.SymbolicOptions;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

/** Problems of a backend's own tests. */
public final class DeviceCases {

  private DeviceCases() {}

  /** A generated problem as one task, one right-hand side, nested dissection. */
  public static SubtreeProblem whole(String specification) {
    return whole(generated(specification));
  }

  /** The subtree of its first front with at most half of the fronts, which passes blocks on. */
  public static SubtreeProblem part(String specification) {
    ContractCase c = generated(specification);
    int[] task = TaskRun.subtrees(c.analysis, c.analysis.fronts() / 2);
    int[] fronts = IntStream.range(0, task.length).filter(f -> task[f] == task[0]).toArray();
    RowBlock rows = TaskRun.select(c.split().rows(), task, task[0]);
    return new SubtreeProblem(c.analysis, fronts, rows, List.of());
  }

  private static ContractCase generated(String specification) {
    var a = Gallery.generate(specification);
    var options = SymbolicOptions.defaults().withGiven(new NestedDissection().order(a.pattern()));
    double[] b = TestMatrices.vector(a.rows(), new Random(4));
    return new ContractCase(specification, a, b, 1, options);
  }

  /** Dense rows over 280 columns or over 500, and over 40 that both share: two fronts, one task. */
  public static SubtreeProblem twoLargeFronts() {
    int[] end = {280, 780, 820};
    int[] rows = {340, 880};
    var random = new Random(6);
    double[][] values = new double[rows[1]][end[2]];
    for (int i = 0; i < rows[1]; i++) {
      boolean first = i < rows[0];
      for (int j = first ? 0 : end[0]; j < end[2]; j++) {
        values[i][j] = first && j >= end[0] && j < end[1] ? 0 : random.nextGaussian();
      }
    }
    CsrMatrix a = TestMatrices.ofDense(values, end[2], false);
    double[] b = TestMatrices.vector(rows[1], random);
    return whole(ContractCase.natural("two large fronts", a, b, 1));
  }

  private static SubtreeProblem whole(ContractCase c) {
    int[] fronts = new int[c.analysis.fronts()];
    Arrays.setAll(fronts, f -> f);
    return new SubtreeProblem(c.analysis, fronts, c.split().rows(), List.of());
  }

  /** The reflectors that were kept turn the problem's right-hand sides into those of R. */
  public static void checkReflectors(SubtreeProblem problem, SubtreeFactor kept, String what) {
    RowBlock rows = problem.rows();
    var run =
        new TaskReflection(
            problem.analysis(),
            problem.fronts(),
            rows.front(),
            rows.rhs(),
            rows.rhsCount(),
            false,
            List.of());
    kept.reflectors().forEach(run::run);
    double[] expected =
        kept.fronts().stream().flatMapToDouble(f -> Arrays.stream(f.rhs())).toArray();
    double norm = Tolerances.norm(rows.rhs());
    double limit = Tolerances.of(rows.rows(), problem.analysis().columns(), norm);
    Tolerances.requireClose(run.values(), expected, limit, what);
    for (int q = 0; q < rows.rhsCount(); q++) {
      assertThat(run.residual()[q])
          .as(what)
          .isCloseTo(Math.sqrt(kept.residualSquares()[q]), within(limit));
    }
    assertThat(run.outputs()).isEmpty();
  }
}
