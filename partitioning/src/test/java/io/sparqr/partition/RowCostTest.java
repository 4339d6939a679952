/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.partition;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import org.junit.jupiter.api.Test;

/** The part of the work that is done before rows reach their tasks. */
class RowCostTest {

  private static final SymbolicAnalysis TALL =
      SymbolicAnalyzer.analyze(
          Gallery.generate("gen:onehot200000x2000x300x50").pattern(), SymbolicOptions.defaults());

  private static RowCost cost(int parts) {
    return RowCost.of(TALL, PartitionOptions.defaults().withCombinedParts(parts));
  }

  @Test
  void rowsThatAreNotCombinedCostTheirReading() {
    RowCost cost = cost(0);
    assertThat(cost.flops()).isZero();
    assertThat(cost.entries()).isEqualTo(TALL.nonzeros());
    double one = cost.seconds(ResourceModel.uniform(1, 2e10, 1 << 30));
    assertThat(cost.seconds(ResourceModel.uniform(4, 2e10, 1 << 30))).isEqualTo(one / 4);
  }

  @Test
  void combinedRowsLeaveTheirFrontLittleWork() {
    double most = 0;
    int tall = 0;
    for (int f = 0; f < TALL.fronts(); f++) {
      tall = TALL.frontFlops(f) > most ? f : tall;
      most = Math.max(most, TALL.frontFlops(f));
    }
    assertThat(most).as("a tall front").isGreaterThan(0.4 * TALL.flops());
    long own = 0;
    for (int p = TALL.firstPivot(tall); p < TALL.firstPivot(tall + 1); p++) {
      own += TALL.leftmostCount(p);
    }
    CombinedRows two = CombinedRows.of(TALL, tall, 2);
    assertThat(two.frontRows()).isEqualTo(TALL.fm(tall) - own + 2L * TALL.fn(tall));
    assertThat(two.frontFlops()).isLessThan(most / 2);
    assertThat(two.flops() + two.frontFlops()).isBetween(0.9 * most, 1.5 * most);
    var cost = new TreeCost(TALL, 1, true, 2);
    assertThat(cost.flops[tall]).isEqualTo(two.frontFlops());
    assertThat(cost.combineFlops).isBetween(two.flops(), 1.5 * two.flops());
    assertThat(new TreeCost(TALL, 1, false, 2).combineFlops).as("on devices").isZero();
  }

  /** As the combine decides: more rows in a partition than columns, and twice the entries. */
  @Test
  void fewRowsAreNotCombined() {
    assertThat(CombinedRows.happens(401, 100, 100, 2)).isTrue();
    assertThat(CombinedRows.happens(199, 100, 1000, 1)).as("few for columns").isFalse();
    assertThat(CombinedRows.happens(401, 100, 100, 5)).as("few in a partition").isFalse();
    assertThat(CombinedRows.happens(401, 100, 20, 2)).as("few entries").isFalse();
    assertThat(cost(1000).flops()).isZero();
  }
}
