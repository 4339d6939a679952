/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class CampaignTest {

  private static final long SEED = Long.getLong("test.seed", 1L);
  private static final long SOLVES = Long.getLong("sparqr.test.solves", 1500L);

  @Test
  void everyAnswerIsTrue() throws Exception {
    String one = System.getProperty("sparqr.test.case", "");
    List<String> names = Arrays.asList(System.getProperty("sparqr.test.families", "").split(","));
    List<Family> families =
        Family.all().stream()
            .filter(f -> names.contains("") || names.contains(f.name()))
            .toList();
    Campaign campaign = new Campaign(SEED, families, List.of(OptionSet.values()), 40);
    long begin = System.nanoTime();
    CampaignTally tally =
        one.isEmpty()
            ? campaign.run(SOLVES)
            : campaign.one(one, System.getProperty("sparqr.test.folder", ""));
    System.out.printf(
        "campaign, seed %d, %.1f s%n%s%n", SEED, (System.nanoTime() - begin) * 1e-9, tally);
    assertThat(tally.count()).as("seed %d", SEED).isZero();
  }
}
