/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.backend.cpu.CpuSubtreeFactorizer;
import io.sparqr.error.DimensionMismatchException;
import io.sparqr.sparse.CsrMatrix;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Q of the CPU backend: rows reduced chunk by chunk, bits of R, rows that are not the same. */
class CpuKeptQTest {

  @Test
  void rowsThatComeInChunks() {
    var random = new Random(17);
    CsrMatrix a = TestMatrices.incidence(130_000, 90, random);
    var c = ContractCase.natural("edges", a, TestMatrices.vector(130_000, random), 1);
    try (var cpu = new CpuSubtreeFactorizer()) {
      c.verifyKeptQ(cpu, TaskRun.whole(c.analysis), 2);
      var run = c.keeping(cpu, 1);
      assertThat(run.factors.get(0).reflectors()).anyMatch(q -> q.blocks().size() > 2);
    }
  }

  @Test
  void otherRowsThanWereFactoredAreRefused() {
    var random = new Random(23);
    CsrMatrix a = TestMatrices.sparse(400, 200, 2, random);
    var c = ContractCase.natural("refused", a, TestMatrices.vector(400, random), 1);
    assertThat(c.analysis.fronts()).isGreaterThan(1);
    try (var cpu = new CpuSubtreeFactorizer()) {
      var run = c.keeping(cpu, 1);
      SubtreeProblem problem = run.problems.get(0);
      int[] front = problem.rows().front();
      int[] fewer = Arrays.copyOf(front, front.length - 1);
      assertThatThrownBy(() -> reflect(c, run, fewer, List.of()))
          .isInstanceOf(DimensionMismatchException.class)
          .hasMessageContaining("rows or their order changed");
      // all rows go to one front, so another gets none
      int[] wrong = front.clone();
      Arrays.fill(wrong, front[0]);
      assertThatThrownBy(() -> reflect(c, run, wrong, List.of()))
          .isInstanceOf(DimensionMismatchException.class);
      // the parents alone: their children's rows are missing
      FrontReflectors parent =
          run.factors.get(0).reflectors().stream()
              .filter(q -> q.children().child().length > 0)
              .findFirst()
              .orElseThrow();
      assertThatThrownBy(() -> reflect(c, run, front, List.of(parent)))
          .isInstanceOf(DimensionMismatchException.class)
          .hasMessageContaining("of its child " + parent.children().child()[0]);
    }
  }

  private static void reflect(
      ContractCase c, TaskRun run, int[] front, List<FrontReflectors> only) {
    int[] fronts = run.problems.get(0).fronts();
    var reflection =
        new TaskReflection(
            c.analysis, fronts, front, new double[front.length], 1, false, List.of());
    (only.isEmpty() ? run.factors.get(0).reflectors() : only).forEach(reflection::run);
  }

  @Test
  void keepingQChangesNoBitOfR() {
    var random = new Random(19);
    CsrMatrix a = TestMatrices.sparse(2000, 700, 4, random);
    var c = ContractCase.natural("bits", a, TestMatrices.vector(2000, random), 1);
    try (var cpu = new CpuSubtreeFactorizer()) {
      var plain = c.run(cpu, TaskRun.whole(c.analysis), 2);
      var kept = c.keeping(cpu, 2);
      for (int f = 0; f < c.analysis.fronts(); f++) {
        assertThat(TestMatrices.rowsOfR(kept.fronts.get(f)))
            .isEqualTo(TestMatrices.rowsOfR(plain.fronts.get(f)));
        assertThat(kept.fronts.get(f).rhs()).isEqualTo(plain.fronts.get(f).rhs());
      }
      assertThat(kept.factors.get(0).reflectors()).hasSize(c.analysis.fronts());
    }
  }
}
