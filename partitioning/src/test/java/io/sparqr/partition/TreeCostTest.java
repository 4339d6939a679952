/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.partition;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.ordering.OrderingMethod;
import io.sparqr.symbolic.FrontMemory;
import io.sparqr.symbolic.Panels;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The memory that a task is planned for where a front is taken by its Gram matrix. */
class TreeCostTest {

  private static final SymbolicOptions OPTIONS =
      SymbolicOptions.defaults().withOrdering(OrderingMethod.COLAMD);

  private static SymbolicAnalysis panel(long bytes) {
    var pattern = Panels.anywhere(40_000, 600, 8, new Random(1)).pattern();
    return SymbolicAnalyzer.analyze(pattern, OPTIONS.withGram(bytes));
  }

  private static long reflectors(SymbolicAnalysis a, int f) {
    return FrontMemory.hostBytes(a.fm(f), a.fn(f), 1);
  }

  /**
   * If it is refused, reflectors take it: what they need is planned, unless no task could have it.
   */
  @Test
  void reflectorsArePlannedForWhereTheyFit() {
    SymbolicAnalysis wide = panel(Long.MAX_VALUE);
    int root = wide.fronts() - 1;
    assertThat(wide.gramBytes(root)).isPositive().isLessThan(reflectors(wide, root));
    assertThat(new TreeCost(wide, 1).workBytes[root]).isEqualTo(reflectors(wide, root));

    SymbolicAnalysis narrow = panel(wide.gramBytes(root));
    assertThat(narrow.fn(root)).isEqualTo(wide.fn(root));
    assertThat(new TreeCost(narrow, 1).workBytes[root]).isEqualTo(narrow.gramBytes(root));

    SymbolicAnalysis none = panel(1000);
    int last = none.fronts() - 1;
    assertThat(none.isGram(last)).isFalse();
    assertThat(new TreeCost(none, 1).workBytes[last]).isEqualTo(reflectors(none, last));
  }
}
