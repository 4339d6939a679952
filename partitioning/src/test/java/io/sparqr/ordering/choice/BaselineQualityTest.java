/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering.choice;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Flops on the problems that the project is measured by, see
 * benchmarks/history/2026-11-21-orderings.md.
 */
class BaselineQualityTest {

  private static SymbolicAnalysis analyze(String problem, OrderingMethod method) {
    return SymbolicAnalyzer.analyze(
        Gallery.generate(problem).pattern(), SymbolicOptions.defaults().withOrdering(method));
  }

  /** SuiteSparseQR 4.3.4's flop counts with its COLAMD. */
  @ParameterizedTest
  @CsvSource({"ch7-8-b3, 4452", "nug15, 249", "nug20, 4277", "cells3d40, 299", "cells2d500, 8.8"})
  void colamdWithinTenPercentOfSuiteSparse(String problem, double gigaflops) {
    assertThat(analyze(problem, OrderingMethod.COLAMD).flops() * 1e-9)
        .isLessThanOrEqualTo(1.1 * gigaflops);
  }

  @Test
  void autoKeepsTheCheapOrderOnATwoDimensionalGrid() {
    SymbolicAnalysis s = analyze("cells2d300", OrderingMethod.AUTO);
    assertThat(s.orderingUsed()).isEqualTo(OrderingMethod.AMD);
    assertThat(s.orderingReason()).contains("would cost");
  }

  @Test
  void autoFindsTheDissectionOfAThreeDimensionalGrid() {
    SymbolicAnalysis s = analyze("cells3d30", OrderingMethod.AUTO);
    assertThat(s.orderingUsed()).isEqualTo(OrderingMethod.NESTED_DISSECTION);
    // SuiteSparseQR with METIS: 10.5
    assertThat(s.flops() * 1e-9).isLessThan(12.1);
    assertThat(s.orderingReason()).startsWith("auto: nd").contains("separators like a solid's");
  }
}
