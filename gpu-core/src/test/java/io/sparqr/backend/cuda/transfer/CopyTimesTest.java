/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.backend.cuda.transfer.CopyTimes.Span;
import io.sparqr.numeric.DeviceTimeline.Copies;
import java.util.List;
import org.junit.jupiter.api.Test;

class CopyTimesTest {

  /**
   * One before the tasks, two at a time that begin before their end, one inside another, one after.
   */
  @Test
  void timeWithSeveralCopiesCountsOnce() {
    List<Span> copies =
        List.of(
            new Span(3000, 7000),
            new Span(0, 1000),
            new Span(2000, 4000),
            new Span(4500, 5000),
            new Span(9000, 9500));
    assertThat(CopyTimes.of(copies, new Span(1000, 6000), 64)).isEqualTo(new Copies(6.5, 4, 64));
  }

  @Test
  void noCopiesTakeNoTime() {
    assertThat(CopyTimes.of(List.of(), new Span(1, 2), 0)).isEqualTo(Copies.NONE);
  }
}
