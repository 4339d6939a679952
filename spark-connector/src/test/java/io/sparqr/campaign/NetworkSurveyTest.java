/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.campaign.NetworkTally.Outcome;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The first networks of a {@link NetworkSurvey}. More of them, others:
 * -Dsparqr.test.networks=100000 -Dtest.seed=2.
 */
@Tag("numbers")
class NetworkSurveyTest {

  private static final long SEED = Long.getLong("test.seed", 1L);
  private static final long NETWORKS = Long.getLong("sparqr.test.networks", 500L);

  @Test
  void ranksAreRightWhereAnSvdIsAndNeverWrongInSilence() {
    NetworkTally tally = new NetworkSurvey(SEED).run(NETWORKS);
    String all = "seed %d%n%s".formatted(SEED, tally);
    if (NETWORKS > 500) {
      System.out.println(all);
    }
    assertThat(tally.count(Outcome.RIGHT)).as(all).isGreaterThan(9 * NETWORKS / 10);
    assertThat(tally.count(Outcome.SVD_RIGHT)).as(all).isZero();
    assertThat(tally.count(Outcome.SILENT)).as(all).isZero();
    assertThat(tally.count(Outcome.FALSE_NORM)).as(all).isZero();
    assertThat(tally.count(Outcome.ERROR)).as(all).isZero();
  }
}
