/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.error.InsufficientMemoryException;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.RowBlock;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.sparse.SparsityPattern;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the CPU backend cannot do, and what it is told not to go on with. */
class CpuLimitsTest {

  @AfterEach
  void clearInterrupt() {
    Thread.interrupted();
  }

  @Test
  void aFrontThatNoArrayHoldsIsRefusedByName() {
    SubtreeProblem problem = identityInOneFront(50_000);
    try (var cpu = new CpuSubtreeFactorizer()) {
      assertThatThrownBy(() -> cpu.factor(problem, new FactorOptions(-1, 1, 0)))
          .isInstanceOf(InsufficientMemoryException.class)
          .hasMessageStartingWith("front 0 (50000 rows) needs 200")
          .hasMessageEndingWith("bytes: more than a Java array holds");
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void anInterruptedTaskEndsAndStaysInterrupted(int threads) {
    SubtreeProblem problem = identityInOneFront(50);
    try (var cpu = new CpuSubtreeFactorizer()) {
      Thread.currentThread().interrupt();
      assertThatThrownBy(() -> cpu.factor(problem, new FactorOptions(-1, threads, 0)))
          .isInstanceOf(CancellationException.class)
          .hasMessageStartingWith("interrupted");
      assertThat(Thread.interrupted()).isTrue();
      assertThat(cpu.factor(problem, new FactorOptions(-1, threads, 0)).fronts().get(0).rank())
          .isEqualTo(50);
    }
  }

  /** n equal dense rows for the analysis, the unit vectors as rows that come. */
  private static SubtreeProblem identityInOneFront(int n) {
    int[] all = IntStream.range(0, n).toArray();
    var pattern = new SparsityPattern(n, new long[] {0, n}, all, new long[] {n});
    SymbolicAnalysis analysis =
        SymbolicAnalyzer.analyze(
            pattern, SymbolicOptions.defaults().withOrdering(OrderingMethod.NATURAL));
    double[] ones = new double[n];
    Arrays.fill(ones, 1);
    var rows = new RowBlock(new int[n], IntStream.rangeClosed(0, n).toArray(), all, ones, ones, 1);
    return new SubtreeProblem(analysis, new int[] {0}, rows, List.of());
  }
}
