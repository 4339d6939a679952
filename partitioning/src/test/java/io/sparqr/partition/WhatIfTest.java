/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.partition;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.symbolic.Patterns;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
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
}
