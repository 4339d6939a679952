/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.partition;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.symbolic.Patterns;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The table of partitions over several numbers of workers. */
class WhatIfTest {

  @Test
  void moreWorkersAreFasterAndMoveMore() {
    SymbolicAnalysis s =
        SymbolicAnalyzer.analyze(
            Patterns.grid(100), SymbolicOptions.defaults().withGiven(Patterns.dissectGrid(100)));
    ResourceModel.Worker like = ResourceModel.Worker.cpu("", s.flops() / 10, 1L << 40);
    WhatIf table = WhatIf.of(s, like, 1e9, 0.1, new PartitionOptions(2, 4, 1, 0), 1, 2, 8);
    assertThat(table.lines()).hasSize(3);
    WhatIf.Line one = table.lines().get(0);
    assertThat(one.speedup()).isEqualTo(1);
    assertThat(one.tasks()).isEqualTo(1);
    assertThat(one.shuffleBytes()).isZero();
    // Ten seconds of work each: the estimate for one worker is their sum, one level and small
    // extras.
    assertThat(one.seconds()).isBetween(10.1, 10.3);
    WhatIf.Line two = table.lines().get(1);
    WhatIf.Line eight = table.lines().get(2);
    assertThat(two.speedup()).isBetween(1.3, 2.0);
    assertThat(eight.speedup()).isBetween(two.speedup(), 8.0);
    assertThat(eight.shuffleBytes()).isPositive();
    assertThat(table.toString().lines()).hasSize(4);
  }

  private static WhatIf of(String problem) {
    SymbolicAnalysis s =
        SymbolicAnalyzer.analyze(Gallery.generate(problem).pattern(), SymbolicOptions.defaults());
    ResourceModel.Worker like = ResourceModel.Worker.cpu("", 2e10, 1L << 34);
    return WhatIf.of(s, like, 1e9, 0.1, PartitionOptions.defaults(), 1, 2);
  }

  /** Its three top fronts alone hold 58% of the work, and are one path. */
  @Test
  void aTallFrontIsSpread() {
    WhatIf.Line two = of("gen:nug15:rand").lines().get(1);
    assertThat(two.speedup()).isBetween(1.4, 2.0);
  }

  /** Most of the work is on the rows of one front, and these are combined where they are. */
  @Test
  void allWorkersCombineRows() {
    List<WhatIf.Line> lines = of("gen:onehot200000x2000x300x50").lines();
    assertThat(lines.get(0).seconds()).isGreaterThan(0.1);
    assertThat(lines.get(1).speedup()).isBetween(1.4, 2.0);
  }
}
