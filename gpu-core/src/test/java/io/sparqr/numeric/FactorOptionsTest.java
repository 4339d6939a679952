/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.backend.cpu.CpuSubtreeFactorizer;
import io.sparqr.symbolic.SymbolicOptions;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The default tolerance is SuiteSparseQR's, and summaries of tasks add up. */
class FactorOptionsTest {

  @Test
  void theDefaultToleranceIsTwentyTimesRowsAndColumnsTimesEps() {
    assertThat(FactorOptions.defaultTolerance(400, 100, 3)).isEqualTo(20 * 500 * 0x1p-52 * 3);
    assertThat(FactorOptions.defaultTolerance(4_000_000_000L, 1, 1))
        .isEqualTo(20 * 4_000_000_001.0 * 0x1p-52);
    assertThat(FactorOptions.DEFAULT_TOLERANCE_RULE).contains("20 (m+n) eps max ||a_j||");
  }

  @Test
  void aColumnIsDeadBelowItAndLiveAboveIt() {
    // columns (1, 0) and (1, d), scaled to norm 1: what remains of the second is d
    double tolerance = 20 * 4 * 0x1p-52;
    for (double factor : new double[] {0.5, 2}) {
      double d = factor * tolerance;
      var a = TestMatrices.ofDense(new double[][] {{1, 1}, {0, d}}, 2, true);
      var options = SymbolicOptions.defaults().withSingletons(false);
      var solver = new LocalSolver(new CpuSubtreeFactorizer(), options, 1);
      assertThat(solver.solve(a, new double[] {1, 1}, 1).factorization().rank())
          .as("%s of the tolerance", factor)
          .isEqualTo(factor > 1 ? 2 : 1);
    }
  }

  /** Each change shows in one component, and the change back gives equal options. */
  @Test
  void whatIsDemandedChangesAlone() {
    var plain = new FactorOptions(1e-9, 3, 5);
    assertThat(demanded(plain)).containsOnly(false);
    assertThat(demanded(new FactorOptions(1e-9, 3, 5, true)))
        .containsExactly(true, false, false, false, false);
    assertThat(demanded(plain.safely())).containsExactly(false, true, false, false, false);
    FactorOptions unit = plain.ofUnitColumns(true);
    assertThat(demanded(unit)).containsExactly(false, false, true, false, false);
    FactorOptions both = unit.forSolution(true);
    assertThat(demanded(both)).containsExactly(false, false, true, true, false);
    FactorOptions all = both.staying(true);
    assertThat(demanded(all)).containsExactly(false, false, true, true, true);
    assertThat(all.staying(true)).isEqualTo(all);
    assertThat(all.staying(false)).isEqualTo(both);
    assertThat(both.forSolution(false)).isEqualTo(unit);
    assertThat(unit.ofUnitColumns(false)).isEqualTo(plain).hasSameHashCodeAs(plain);
    WorkListener silent = part -> {};
    FactorOptions heard = all.heardBy(silent);
    assertThat(heard.work()).isSameAs(silent);
    assertThat(heard.memory()).isSameAs(RowMemory.HEAP);
    assertThat(heard.heardBy(WorkListener.NONE).in(RowMemory.HEAP)).isEqualTo(all);
    assertThat(heard.rankTolerance()).isEqualTo(1e-9);
    assertThat(heard.threads()).isEqualTo(3);
    assertThat(heard.deviceMemoryBytes()).isEqualTo(5);
    assertThat(all.alone()).isFalse();
    assertThat(all.alone(true).alone()).isTrue();
    assertThat(demanded(all.alone(true))).containsExactly(demanded(all));
    assertThat(both.alone(true).alone()).as("of what does not stay").isFalse();
    assertThat(all.alone(true).alone(false)).isEqualTo(all);
  }

  private static boolean[] demanded(FactorOptions o) {
    return new boolean[] {o.keepQ(), o.safe(), o.unitColumns(), o.solutionOnly(), o.resident()};
  }

  @Test
  void summariesAddUp() {
    var one =
        new FactorSummary(
            "cpu",
            "a",
            new FactorSummary.Work(1, 2, 3, 12, 3),
            new FactorSummary.DeviceUse(4, 5, 6, 7, 8, 19),
            new FactorSummary.Gram(3, 1, 100, 2e-16),
            10,
            new FactorSummary.Check(5e-15, 1),
            List.of("w", "v"));
    var two =
        new FactorSummary(
            "cuda",
            "b",
            new FactorSummary.Work(10, 20, 30, 3, 4),
            new FactorSummary.DeviceUse(40, 50, 60, 70, 80, 9),
            new FactorSummary.Gram(4, 2, 1000, 1e-16),
            100,
            new FactorSummary.Check(7e-15, 2),
            List.of("w"));
    FactorSummary both = one.merge(two);
    assertThat(both.droppedNorm()).isCloseTo(5, within(Math.ulp(5.0)));
    assertThat(both)
        .isEqualTo(
            new FactorSummary(
                "cpu + cuda",
                "a + b",
                new FactorSummary.Work(11, 22, 33, 15, both.droppedNorm()),
                new FactorSummary.DeviceUse(44, 55, 66, 77, 88, 19),
                new FactorSummary.Gram(7, 3, 1100, 2e-16),
                100,
                new FactorSummary.Check(7e-15, 3),
                List.of("w", "v")));
  }
}
