/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.Sampling;
import io.sparqr.campaign.NetworkTally.Outcome;
import java.io.IOException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Some of the first 300 networks of a {@link NetworkSurvey}. More of them, others:
 * -Dsparqr.test.networks=100000 -Dtest.seed=2. One of them, written to a folder for other solvers:
 * -Dsparqr.test.case=4999 -Dsparqr.test.folder=FOLDER.
 */
@Tag("numbers")
class NetworkSurveyTest {

  private static final long SEED = Long.getLong("test.seed", 1L);
  private static final int NETWORKS = 300;

  @Test
  void ranksAreRightWhereAnSvdIsAndNeverWrongInSilence() throws IOException {
    long one = Long.getLong("sparqr.test.case", -1);
    var survey = new NetworkSurvey(SEED);
    NetworkTally tally =
        one < 0
            ? survey.run(Sampling.numbers("sparqr.test.networks", NETWORKS))
            : survey.one(one, System.getProperty("sparqr.test.folder", ""));
    String all = "seed %d%n%s".formatted(SEED, tally);
    if (one >= 0 || Integer.getInteger("sparqr.test.networks") != null) {
      System.out.println(all);
    }
    assertThat(tally.count(Outcome.RIGHT)).as(all).isPositive();
    assertThat(tally.count(Outcome.SVD_RIGHT)).as(all).isZero();
    assertThat(tally.count(Outcome.SILENT)).as(all).isZero();
    assertThat(tally.count(Outcome.FALSE_NORM)).as(all).isZero();
    assertThat(tally.count(Outcome.ERROR)).as(all).isZero();
  }
}
