/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class FundamentalSupernodesTest {

  /** Columns 0 and 1 below the chain 2, 3, 4. */
  @Test
  void aSupernodeHasTheRowsThatBeginAtItsColumns() {
    int[] up = {2, 2, 3, 4, -1};
    int[] counts = {2, 3, 3, 2, 1};
    long[] leftmost = {7, 5, 4, 2, 1};
    var supernodes = new FundamentalSupernodes(up, counts, leftmost);
    assertThat(supernodes.of).containsExactly(0, 1, 2, 2, 2);
    assertThat(supernodes.columns).containsExactly(1, 1, 3);
    assertThat(supernodes.beyond).containsExactly(1, 2, 0);
    assertThat(supernodes.above).containsExactly(2, 2, -1);
    assertThat(supernodes.rows).containsExactly(7, 5, 7);
  }
}
