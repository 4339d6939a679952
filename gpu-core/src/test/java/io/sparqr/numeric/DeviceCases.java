/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.matrix.Gallery;
import io.sparqr.ordering.NestedDissection;
import io.sparqr.symbolic.SymbolicOptions;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/** Problems of a backend's own tests. */
public final class DeviceCases {

  private DeviceCases() {}

  /** A generated problem as one task, one right-hand side, nested dissection. */
  public static SubtreeProblem whole(String specification) {
    var a = Gallery.generate(specification);
    var options = SymbolicOptions.defaults().withGiven(new NestedDissection().order(a.pattern()));
    var random = new Random(4);
    var c = new ContractCase(specification, a, TestMatrices.vector(a.rows(), random), 1, options);
    int[] fronts = new int[c.analysis.fronts()];
    java.util.Arrays.setAll(fronts, f -> f);
    return new SubtreeProblem(c.analysis, fronts, c.split().rows(), java.util.List.of());
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
    assertThat(run.values()).as(what).containsExactly(expected, within(limit));
    for (int q = 0; q < rows.rhsCount(); q++) {
      assertThat(run.residual()[q])
          .as(what)
          .isCloseTo(Math.sqrt(kept.residualSquares()[q]), within(limit));
    }
    assertThat(run.outputs()).isEmpty();
  }
}
