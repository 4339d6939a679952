/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class BucketSchedulerTest {

  /** SQR figures 6 to 8: 256 x 160, tiles (7,1) and (8,1) zero, bundles of 3. */
  private static final int[] PAPER = {0, 0, 0, 0, 0, 0, 1, 1};

  @Test
  void thePapersExampleTakesTwelveLaunchesWithoutPipeliningAndSevenWithIt() {
    assertThat(BucketScheduler.schedule(PAPER, 5, 5, 3, false).rounds()).isEqualTo(12);
    assertThat(BucketScheduler.schedule(PAPER, 5, 5, 3, true).rounds()).isEqualTo(7);
  }

  @Test
  void thePapersFirstLaunchHasBundlesOfThreeThreeAndTwo() {
    FrontSchedule s = BucketScheduler.schedule(PAPER, 5, 5, 3, true);
    int a = s.opStart(0);
    int b = s.next(a);
    int c = s.next(b);
    assertThat(s.next(c)).isEqualTo(s.opStart(1));
    assertThat(new int[] {s.size(a), s.size(b), s.size(c)}).containsExactly(3, 3, 2);
    assertThat(new int[] {s.column(a), s.column(b), s.column(c)}).containsExactly(0, 0, 1);
  }

  @Test
  void roundsOfALargeSquareFrontReachTheBoundOfOneIdleTileABundle() {
    // Each bundle leaves one of its B row tiles behind, so n^2/2 moves of row tiles to the next
    // column take at least B/(B-1) rounds a column tile when every row tile is at work all the
    // time.
    for (int bundle : new int[] {3, 4, 6, 8}) {
      FrontSchedule s = BucketScheduler.schedule(new int[128], 128, 128, bundle, true);
      assertThat(s.rounds() / 128.0)
          .as("bundle %d", bundle)
          .isLessThan(1.01 * bundle / (bundle - 1));
    }
  }

  @Test
  void aSingleTileTakesOneRoundAndItsRightHandSidesASecondOne() {
    assertThat(BucketScheduler.schedule(new int[1], 1, 1, 4, true).rounds()).isEqualTo(1);
    assertThat(BucketScheduler.schedule(new int[1], 1, 2, 4, true).rounds()).isEqualTo(2);
  }

  @Test
  void moreColumnsThanRowsAndDescendingStaircasesAreRefused() {
    assertThatThrownBy(() -> BucketScheduler.schedule(new int[1], 2, 2, 4, true))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> BucketScheduler.schedule(new int[] {0, 1, 0}, 2, 2, 4, true))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("row tile 2");
  }
}
