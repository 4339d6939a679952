/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.error.InsufficientMemoryException;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.RowBlock;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.dense.BlasLoader;
import io.sparqr.numeric.dense.DenseKernels;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.sparse.SparsityPattern;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Limits of the CPU backend, and its reaction to interrupts. */
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
    try (var cpu = new CpuSubtreeFactorizer(BlasLoader.kernels(), GramRule.DEFAULT, 0)) {
      Thread.currentThread().interrupt();
      assertThatThrownBy(() -> cpu.factor(problem, new FactorOptions(-1, threads, 0)))
          .isInstanceOf(CancellationException.class)
          .hasMessageStartingWith("interrupted");
      assertThat(Thread.interrupted()).isTrue();
      assertThat(cpu.factor(problem, new FactorOptions(-1, threads, 0)).fronts().get(0).rank())
          .isEqualTo(50);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void anInterruptEndsATaskWithinAFront(int threads) {
    SubtreeProblem problem = denseFront(700);
    var options = new FactorOptions(-1, threads, 0);
    var whole = new CountingKernels(Long.MAX_VALUE);
    var stopped = new CountingKernels(20);
    try (var cpu = new CpuSubtreeFactorizer(whole)) {
      assertThat(cpu.factor(problem, options).fronts().get(0).rank()).isEqualTo(700);
    }
    try (var cpu = new CpuSubtreeFactorizer(stopped)) {
      assertThatThrownBy(() -> cpu.factor(problem, options))
          .isInstanceOf(CancellationException.class)
          .hasMessageMatching("interrupted (within a unit of work|while .*)");
    }
    assertThat(Thread.interrupted()).isTrue();
    assertThat(stopped.calls.get()).isLessThan(whole.calls.get() / 2);
  }

  /** Counts products, and at one of them interrupts the thread that created this object. */
  private static final class CountingKernels implements DenseKernels {
    private final DenseKernels kernels = BlasLoader.kernels();
    private final Thread caller = Thread.currentThread();
    private final AtomicLong calls = new AtomicLong();
    private final long interruptAt;

    CountingKernels(long interruptAt) {
      this.interruptAt = interruptAt;
    }

    @Override
    public void gemm(
        boolean transposeA,
        int m,
        int n,
        int k,
        double alpha,
        double[] a,
        int aOffset,
        int lda,
        double[] b,
        int bOffset,
        int ldb,
        double beta,
        double[] c,
        int cOffset,
        int ldc) {
      long call = calls.incrementAndGet();
      if (call == interruptAt) {
        caller.interrupt();
      } else if (call > interruptAt && Thread.currentThread() != caller) {
        // On a busy machine helpers could do all the rest before the caller's thread runs.
        LockSupport.parkNanos(1_000_000);
      }
      kernels.gemm(
          transposeA, m, n, k, alpha, a, aOffset, lda, b, bOffset, ldb, beta, c, cOffset, ldc);
    }

    @Override
    public boolean isNative() {
      return kernels.isNative();
    }

    @Override
    public String description() {
      return kernels.description();
    }
  }

  private static SubtreeProblem denseFront(int n) {
    var random = new Random(7);
    double[] values = random.doubles((long) n * n, -1, 1).toArray();
    int[] columns = IntStream.range(0, n * n).map(e -> e % n).toArray();
    int[] starts = IntStream.rangeClosed(0, n).map(i -> i * n).toArray();
    double[] ones = new double[n];
    Arrays.fill(ones, 1);
    var rows = new RowBlock(new int[n], starts, columns, values, ones, 1);
    return new SubtreeProblem(oneFront(n), new int[] {0}, rows, List.of());
  }

  /** The unit vectors as rows. */
  private static SubtreeProblem identityInOneFront(int n) {
    int[] all = IntStream.range(0, n).toArray();
    double[] ones = new double[n];
    Arrays.fill(ones, 1);
    var rows = new RowBlock(new int[n], IntStream.rangeClosed(0, n).toArray(), all, ones, ones, 1);
    return new SubtreeProblem(oneFront(n), new int[] {0}, rows, List.of());
  }

  /** Of n equal dense rows. */
  private static SymbolicAnalysis oneFront(int n) {
    int[] all = IntStream.range(0, n).toArray();
    var pattern = new SparsityPattern(n, new long[] {0, n}, all, new long[] {n});
    return SymbolicAnalyzer.analyze(
        pattern, SymbolicOptions.defaults().withOrdering(OrderingMethod.NATURAL));
  }
}
