/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.Contents;
import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.sparse.SparsityPattern;
import java.util.concurrent.ForkJoinPool;
import org.junit.jupiter.api.Test;

/** An analysis that depends on its pattern alone, whatever the number of threads. */
class ParallelAnalysisTest {

  private static final int[] THREADS = {1, 2, 3, 8};

  @Test
  void theAnalysisIsTheSameOnAnyNumberOfThreads() {
    SparsityPattern pattern = Gallery.generate("grad3d30").pattern();
    same(pattern, SymbolicOptions.defaults().withOrdering(OrderingMethod.AMD));
  }

  /** Rows that repeat each other's edges, and columns with very many rows. */
  @Test
  void theAnalysisOfLongRowsIsTheSameOnAnyNumberOfThreads() {
    for (String problem : new String[] {"onehot60000x900x70x20", "nug10", "cells3d20"}) {
      SparsityPattern pattern = Gallery.generate(problem).pattern();
      same(pattern, SymbolicOptions.defaults().withOrdering(OrderingMethod.AMD));
    }
  }

  @Test
  void theBestOfSeveralOrdersIsTheSameOnAnyNumberOfThreads() {
    SparsityPattern pattern = Gallery.generate("grad3d12").pattern();
    same(pattern, SymbolicOptions.defaults().withOrdering(OrderingMethod.BEST));
  }

  private static void same(SparsityPattern pattern, SymbolicOptions options) {
    SymbolicAnalysis.Data first = null;
    for (int threads : THREADS) {
      SymbolicAnalysis.Data d = on(threads, pattern, options).data();
      first = first == null ? d : first;
      Contents.requireSame(d, first, threads + " threads", "seconds");
    }
  }

  private static SymbolicAnalysis on(
      int threads, SparsityPattern pattern, SymbolicOptions options) {
    ForkJoinPool pool = new ForkJoinPool(threads);
    try {
      return pool.submit(() -> SymbolicAnalyzer.analyze(pattern, options)).join();
    } finally {
      pool.shutdown();
    }
  }

  @Test
  void flopsOfFrontsAreThoseOfTheirStaircases() {
    SparsityPattern pattern = Gallery.generate("grad3d20").pattern();
    var options =
        SymbolicOptions.defaults().withOrdering(OrderingMethod.AMD).withReduction(Reduction.none());
    SymbolicAnalysis analysis = SymbolicAnalyzer.analyze(pattern, options);
    for (int f = 0; f < analysis.fronts(); f++) {
      double flops = Staircase.flops(Staircase.of(analysis, f), analysis.fn(f), analysis.fm(f));
      assertThat(analysis.data().frontFlops().get(f)).isEqualTo(SymbolicAnalysis.packed(flops));
    }
  }

  @Test
  void aFingerprintInPiecesIsThatOfAllRows() {
    SparsityPattern pattern = Gallery.generate("grad3d30").pattern();
    var sum = new SparsityPattern.FingerprintSum();
    for (int p = 0; p < pattern.patterns(); p++) {
      int from = (int) pattern.rowStart()[p];
      int to = (int) pattern.rowStart()[p + 1];
      sum.add(pattern.columnIndex(), from, to, pattern.multiplicity()[p]);
    }
    assertThat(pattern.fingerprint()).isEqualTo(sum.of(pattern.columns()));
  }

  @Test
  void theFirstOfSeveralBadPatternsIsNamed() {
    int rows = 200_000;
    long[] start = new long[rows + 1];
    long[] times = new long[rows];
    int[] column = new int[rows];
    for (int r = 0; r < rows; r++) {
      start[r + 1] = r + 1L;
      times[r] = 1;
      column[r] = r % 7;
    }
    column[150_000] = 7;
    times[70_001] = 0;
    column[199_999] = -1;
    var pattern = new SparsityPattern(7, start, column, times);
    assertThatThrownBy(pattern::validate)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("row pattern 70001");
  }
}
