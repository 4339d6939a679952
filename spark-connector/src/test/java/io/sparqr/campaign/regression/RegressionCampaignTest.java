/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign.regression;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.spark.LocalSpark;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A sample of the {@link RegressionCampaign}. More of it: -Dsparqr.test.regressions=2000
 * -Dtest.seed=2. One case, its data written to a folder: -Dsparqr.test.case=20
 * -Dsparqr.test.folder=FOLDER.
 */
@Tag("once")
class RegressionCampaignTest {

  private static final long SEED = Long.getLong("test.seed", 1L);
  private static final long SAMPLE = 60;
  private static final long COMMANDS = 40;
  private static final long CASES = Long.getLong("sparqr.test.regressions", SAMPLE);
  private static final String ONE = System.getProperty("sparqr.test.case", "");

  @Test
  void byTheEstimator() throws IOException {
    run(new EstimatorWay(), CASES);
  }

  @Test
  void byTheCommandLine(@TempDir Path folder) throws IOException {
    LocalSpark.session();
    run(new CommandLineWay(folder), CASES == SAMPLE ? COMMANDS : CASES);
  }

  private static void run(RegressionWay way, long cases) throws IOException {
    var campaign = new RegressionCampaign(SEED, List.of(way));
    long first = ONE.isEmpty() ? 0 : Long.parseLong(ONE);
    RegressionTally tally = campaign.run(first, ONE.isEmpty() ? cases : first + 1);
    String folder = System.getProperty("sparqr.test.folder", "");
    if (!ONE.isEmpty() && !folder.isEmpty()) {
      campaign.write(first, Path.of(folder));
    }
    String all = "seed %d%n%s".formatted(SEED, tally);
    if (CASES != SAMPLE || !ONE.isEmpty()) {
      System.out.println(all);
    }
    assertThat(tally.disagreements()).as(all).isEmpty();
  }
}
