/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.Sampling;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A sample of the {@link Campaign}. All of it, other problems, some families:
 * -Dsparqr.test.solves=58870 -Dtest.seed=2 -Dsparqr.test.families=cosines,levelling. One problem,
 * written to a folder: -Dsparqr.test.case=cosines:20 -Dsparqr.test.folder=FOLDER.
 */
@Tag("once")
class CampaignTest {

  private static final long SEED = Long.getLong("test.seed", 1L);

  /** Problems of the nightly run, some 800 solves; Spark solves the first and the last. */
  private static final int PROBLEMS = 41;

  private static final long SOLVES = Long.getLong("sparqr.test.solves", 0);

  @Test
  void everyAnswerIsTrue() throws IOException {
    String one = System.getProperty("sparqr.test.case", "");
    List<String> names =
        Arrays.stream(System.getProperty("sparqr.test.families", "").split(","))
            .filter(name -> !name.isEmpty())
            .toList();
    var campaign =
        new Campaign(
            SEED, Campaign.named(names), List.of(OptionSet.values()), Campaign.SPARK_EVERY);
    CampaignTally tally;
    if (!one.isEmpty()) {
      tally = campaign.one(one, System.getProperty("sparqr.test.folder", ""));
    } else if (SOLVES > 0) {
      tally = campaign.run(SOLVES);
    } else {
      tally = campaign.run(Sampling.numbers(PROBLEMS, 0).toArray());
    }
    String all = "seed %d%n%s".formatted(SEED, tally);
    if (SOLVES > 0 || !one.isEmpty()) {
      System.out.println(all);
    }
    assertThat(tally.solves()).as(all).isPositive();
    assertThat(tally.count()).as(all).isZero();
  }
}
