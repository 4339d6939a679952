/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.backend.cpu.CpuSubtreeFactorizer;
import io.sparqr.sparse.CsrMatrix;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Q of the CPU backend: of a front whose rows are reduced chunk by chunk. */
class ChunkedQTest {

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
  void keepingQChangesNoBitOfR() {
    var random = new Random(19);
    CsrMatrix a = TestMatrices.sparse(2000, 700, 4, random);
    var c = ContractCase.natural("bits", a, TestMatrices.vector(2000, random), 1);
    try (var cpu = new CpuSubtreeFactorizer()) {
      var plain = c.run(cpu, TaskRun.whole(c.analysis), 2);
      var kept = c.keeping(cpu, 2);
      for (int f = 0; f < c.analysis.fronts(); f++) {
        assertThat(kept.fronts.get(f).values()).containsExactly(plain.fronts.get(f).values());
        assertThat(kept.fronts.get(f).rhs()).containsExactly(plain.fronts.get(f).rhs());
      }
      assertThat(kept.factors.get(0).reflectors()).hasSize(c.analysis.fronts());
    }
  }
}
