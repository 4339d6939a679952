/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.reference;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.backend.reference.FaultTally.Verdict;
import org.junit.jupiter.api.Test;

/** Some of the faults of {@link FaultCampaign}: none changes a result without a message. */
class FaultCampaignTest {

  private static final int FAULTS = 3000;

  @Test
  void everyFaultThatChangesTheResultIsMendedOrRefused() {
    FaultTally tally = new FaultCampaign().run(FAULTS, 700_000).tally();
    assertThat(tally.missed()).isEmpty();
    assertThat(tally.count(Verdict.MENDED)).as("mended\n%s", tally).isGreaterThan(FAULTS / 4);
    assertThat(tally.count(Verdict.REFUSED)).as("refused\n%s", tally).isPositive();
    assertThat(tally.count(Verdict.HARMLESS)).as("harmless\n%s", tally).isPositive();
    assertThat(tally.kinds())
        .as("kinds that were put in")
        .containsExactlyInAnyOrder(Fault.values());
  }
}
