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
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The memory that a task is planned for where a front is taken by its Gram matrix. */
class TreeCostTest {

  private static final SymbolicOptions OPTIONS =
      SymbolicOptions.defaults().withOrdering(OrderingMethod.COLAMD);

  private static SymbolicAnalysis panel(long bytes) {
    return panel(40_000, 600, 8, bytes);
  }

  private static SymbolicAnalysis panel(int workers, int firms, int years, long bytes) {
    var pattern = Panels.anywhere(workers, firms, years, new Random(1)).pattern();
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

  /** What fronts of the tree leave is among the root's bytes; what others leave waits for it. */
  @Test
  void blocksWithinATreeAreCountedOnce() {
    long nested = 0;
    for (int[] size : new int[][] {{10_000, 900, 3}, {9000, 900, 5}, {6000, 800, 6}}) {
      SymbolicAnalysis wide = panel(size[0], size[1], size[2], Long.MAX_VALUE);
      long most = wide.gramBytes(wide.fronts() - 1) / 10 * 9;
      SymbolicAnalysis a = panel(size[0], size[1], size[2], most);
      int root = a.fronts() - 1;
      var cost = new TreeCost(a, 1);
      long expected = a.gramBytes(root) + cost.rowBytes[root];
      assertThat(expected).isPositive().isLessThan(reflectors(a, root));
      for (int f = 0; f < root; f++) {
        expected += cost.rowBytes[f] + cost.resultBytes[f];
        if (a.isGram(a.parent(f)) && !(a.isGram(f) && a.gramBytes(f) == 0)) {
          expected += cost.blockBytes[f];
          nested += a.parent(f) < root ? cost.blockBytes[f] : 0;
        }
      }
      int[] all = IntStream.range(0, a.fronts()).toArray();
      assertThat(cost.peakBytes(all, new int[a.fronts()], 0, 0)).isEqualTo(expected);
    }
    assertThat(nested).isPositive();
  }
}
