/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.backend.cpu.CpuSubtreeFactorizer;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.symbolic.SymbolicOptions;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Errors of 1e-10 planted in R, Q'b and x are found by the comparisons made for them. */
class TolerancesTest {

  private static final long SEED = Long.getLong("test.seed", 20261202L);
  private static final double PLANTED = 1e-10;

  private final Random random = new Random(SEED);
  private final CsrMatrix a = TestMatrices.sparse(600, 120, 4, random);
  private final double[] b = TestMatrices.vector(600, random);
  private final ContractCase c = new ContractCase("planted", a, b, 1, SymbolicOptions.defaults());

  private TaskRun run() {
    return c.run(new CpuSubtreeFactorizer(), TaskRun.whole(c.analysis), 1);
  }

  @Test
  void boundsDoNotGrowWithTheProblem() {
    for (int m = 1; m > 0; m *= 2) {
      assertThat(Tolerances.of(m, m, 1)).isLessThan(PLANTED / 100);
      assertThat(Tolerances.ofProduct(m, 1, 1, 1)).isLessThan(PLANTED / 100);
    }
    assertThat(Tolerances.ofResidual(1, 1)).isLessThan(PLANTED / 9);
    assertThat(Tolerances.DEPARTURE).isLessThan(PLANTED / 100);
  }

  @Test
  void printedFiguresAreKnownToHalfAUnit() {
    assertThat(Tolerances.decimals(0)).isEqualTo(0.5);
    assertThat(Tolerances.decimals(3)).isEqualTo(0.0005);
    assertThat(Tolerances.digits(1, -4)).isEqualTo(2);
    assertThat(Tolerances.digits(5, 16)).isEqualTo(0.0008);
  }

  @Test
  void roundingsAreOfHalfAUnitEach() {
    double lost = 1 + Tolerances.EPS / 2;
    assertThat(lost).as("the most that one rounding takes").isEqualTo(1);
    assertThat(Tolerances.roundings(1, 1)).isEqualTo(Tolerances.EPS / 2);
    assertThat(Tolerances.ofSolution(1, 1)).isEqualTo(Tolerances.of(1, 1, 1) / 4);
  }

  @Test
  void anErrorInAnEntryOfRIsSeen() {
    c.verify(run(), 120);
    double[] norm = Tolerances.columnNorms(a);
    for (int round = 0; round < 40; round++) {
      TaskRun run = run();
      FrontFactor f = run.fronts.get(random.nextInt(run.fronts.size()));
      int row = random.nextInt(f.rank());
      int at = 0;
      for (int i = 0; i < row; i++) {
        at += f.fn() - f.livePivot()[i];
      }
      // the diagonal's column and an error of its size
      int p = c.analysis.firstPivot(f.front()) + f.livePivot()[row];
      double planted = PLANTED * norm[c.analysis.permutation().original(p)];
      f.values().put(at, f.values().get(at) + planted);
      assertThatThrownBy(() -> c.checkGram(run.denseR(), Tolerances.frobenius(a)))
          .as("seed %d, front %d, row %d", SEED, f.front(), row)
          .isInstanceOf(AssertionError.class)
          .hasMessageContaining("R'R - P'A'AP");
    }
  }

  @Test
  void anErrorInQbIsSeen() {
    for (int round = 0; round < 40; round++) {
      TaskRun run = run();
      FrontFactor f = run.fronts.get(random.nextInt(run.fronts.size()));
      int k = random.nextInt(f.rank());
      f.rhs()[k] += PLANTED * Tolerances.norm(b);
      assertThatThrownBy(() -> c.verify(run, 120))
          .as("seed %d, front %d, row %d", SEED, f.front(), k)
          .isInstanceOf(AssertionError.class)
          .hasMessageContaining("A'r column by column");
    }
    TaskRun run = run();
    run.residualSquares[0] *= 1 + 2 * PLANTED;
    assertThatThrownBy(() -> c.verify(run, 120))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("residual norm");
  }

  @Test
  void anErrorInXIsSeenWhateverTheResidual() {
    double[] consistent = a.multiply(TestMatrices.vector(120, random));
    for (double[] rhs : new double[][] {b, consistent}) {
      var with = new ContractCase("planted", a, rhs, 1, SymbolicOptions.defaults());
      TaskRun run = with.run(new CpuSubtreeFactorizer(), TaskRun.whole(with.analysis), 1);
      double[] x = with.verify(run, 120);
      assertThat(Tolerances.backwardError(a, rhs, x)).isLessThan(Tolerances.UNITS / 20);
      double size = Tolerances.norm(x);
      for (int j = 0; j < x.length; j++) {
        double[] wrong = x.clone();
        wrong[j] += PLANTED * size;
        assertThat(Tolerances.backwardError(a, rhs, wrong))
            .as("seed %d, x[%d]", SEED, j)
            .isGreaterThan(Tolerances.UNITS);
      }
      x[7] = Double.NaN;
      assertThat(Tolerances.backwardError(a, rhs, x)).isNaN();
    }
  }
}
