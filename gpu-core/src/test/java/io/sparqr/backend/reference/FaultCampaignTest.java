/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.reference;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.Sampling;
import io.sparqr.backend.reference.FaultTally.Verdict;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/**
 * Some of the problems of {@link FaultCampaign}, with 60 faults each: none changes a result without
 * a message.
 */
class FaultCampaignTest {

  private static final long FIRST = 700_000;
  private static final int PROBLEMS = 50;

  /** Problems with dropped columns in which faults were missed when these were not summed. */
  @Test
  void faultsInDependentColumns() {
    var campaign = new FaultCampaign(FaultCampaign::plain, 3);
    assertThat(campaign.runEach(6, 87, 116).tally().missed()).isEmpty();
  }

  /**
   * A problem in which 18 of 60 changes of Q'b show. When right-hand sides were in no probe, one of
   * them did not: the probe of its row is too small.
   */
  @Test
  void faultsInRightHandSides() {
    FaultTally tally = new FaultCampaign(FaultCampaign::right, 3).runEach(600).tally();
    assertThat(tally.missed()).isEmpty();
    assertThat(tally.count(Verdict.MENDED)).as("mended\n%s", tally).isGreaterThan(17);
  }

  @Test
  void everyFaultThatChangesTheResultIsMendedOrRefused() {
    int[] problems = Sampling.numbers(PROBLEMS).toArray();
    long[] seeds = Arrays.stream(problems).mapToLong(p -> FIRST + p).toArray();
    FaultTally tally = new FaultCampaign().runEach(seeds).tally();
    assertThat(tally.missed()).isEmpty();
    // In a few problems by chance many faults are in padding.
    boolean all = seeds.length == PROBLEMS;
    assertThat(tally.count(Verdict.MENDED))
        .as("mended\n%s", tally)
        .isGreaterThan(seeds.length * (all ? 15L : 5L));
    assertThat(tally.count(Verdict.REFUSED)).as("refused\n%s", tally).isPositive();
    assertThat(tally.count(Verdict.HARMLESS)).as("harmless\n%s", tally).isPositive();
    if (all) {
      assertThat(tally.kinds())
          .as("kinds that were put in")
          .containsExactlyInAnyOrder(Fault.values());
    }
  }
}
