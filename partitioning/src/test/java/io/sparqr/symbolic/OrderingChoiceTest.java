/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.error.DimensionMismatchException;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.sparse.Permutation;
import io.sparqr.sparse.SparsityPattern;
import org.junit.jupiter.api.Test;

/** Every ordering goes through the analysis, and BEST is the best. */
class OrderingChoiceTest {

  @Test
  void bestHasTheLeastFlopsOfAll() {
    SparsityPattern a = Patterns.grid(40);
    double least = Double.POSITIVE_INFINITY;
    for (OrderingMethod method :
        new OrderingMethod[] {
          OrderingMethod.COLAMD, OrderingMethod.AMD, OrderingMethod.NESTED_DISSECTION
        }) {
      SymbolicAnalysis s =
          SymbolicAnalyzer.analyze(a, SymbolicOptions.defaults().withOrdering(method));
      assertThat(s.orderingUsed()).isEqualTo(method);
      least = Math.min(least, s.flops());
    }
    SymbolicAnalysis best =
        SymbolicAnalyzer.analyze(a, SymbolicOptions.defaults().withOrdering(OrderingMethod.BEST));
    assertThat(best.flops()).isEqualTo(least);
    assertThat(best.orderingUsed()).isNotIn(OrderingMethod.BEST, OrderingMethod.AUTO);
    double natural =
        SymbolicAnalyzer.analyze(a, SymbolicOptions.defaults().withOrdering(OrderingMethod.NATURAL))
            .flops();
    assertThat(least).isLessThan(natural);
    SymbolicAnalysis auto = SymbolicAnalyzer.analyze(a, SymbolicOptions.defaults());
    assertThat(auto.flops()).isBetween(least, natural);
    assertThat(auto.orderingReason()).isNotBlank();
  }

  @Test
  void aGivenOrderOfTheWrongSizeIsRefused() {
    SymbolicOptions options = SymbolicOptions.defaults().withGiven(Permutation.identity(5));
    assertThatThrownBy(() -> SymbolicAnalyzer.analyze(Patterns.grid(3), options))
        .isInstanceOf(DimensionMismatchException.class)
        .hasMessageContaining("5")
        .hasMessageContaining("9");
  }
}
