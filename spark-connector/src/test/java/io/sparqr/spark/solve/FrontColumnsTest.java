/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.solve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.spark.Problems;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import java.util.BitSet;
import org.junit.jupiter.api.Test;

/** Every column of every front is found from wherever before it, and no other. */
class FrontColumnsTest {

  @Test
  void columnsAreFoundAndOthersRefused() {
    SymbolicAnalysis a =
        SymbolicAnalyzer.analyze(Problems.grid(12, 3).pattern(), SymbolicOptions.defaults());
    int refused = 0;
    for (int f = 0; f < a.fronts(); f++) {
      int front = f;
      var has = new BitSet();
      for (int k = 0; k < a.fn(f); k++) {
        has.set(a.column(f, k));
        for (int from = 0; from <= k; from++) {
          assertThat(FrontColumns.find(a, f, a.column(f, k), from)).isEqualTo(k);
        }
      }
      for (int p = has.nextClearBit(0); p < a.columns(); p = has.nextClearBit(p + 1)) {
        int position = p;
        assertThatThrownBy(() -> FrontColumns.find(a, front, position, 0))
            .isInstanceOf(IllegalStateException.class)
            .hasMessageContaining("no column at position " + p);
        refused++;
      }
      assertThatThrownBy(() -> FrontColumns.find(a, front, a.columns(), a.fn(front)))
          .isInstanceOf(IllegalStateException.class);
    }
    assertThat(refused).isPositive();
  }
}
