/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign.regression;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.Sampling;
import io.sparqr.spark.LocalSpark;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A sample of the {@link RegressionCampaign}. More of it: -Dsparqr.test.regressions=2000
 * -Dtest.seed=2. One case, its data written to a folder: -Dsparqr.test.case=20
 * -Dsparqr.test.folder=FOLDER. The cases as a file for Python: -Dsparqr.test.lines=FILE.
 */
@Tag("once")
class RegressionCampaignTest {

  private static final long SEED = Long.getLong("test.seed", 1L);
  private static final int ESTIMATES = 60;
  private static final long PYTHON_SEED = 5;
  private static final int COMMANDS = 40;
  private static final String ASKED = "sparqr.test.regressions";
  private static final String ONE = System.getProperty("sparqr.test.case", "");

  @Test
  void byTheEstimator() throws IOException {
    run(new EstimatorWay(), ESTIMATES);
  }

  @Test
  void byTheCommandLine(@TempDir Path folder) throws IOException {
    LocalSpark.session();
    run(new CommandLineWay(folder), COMMANDS);
  }

  /** -Dgolden.update writes them. */
  @Test
  void theCasesOfThePythonTestsAreThese() throws IOException {
    Path file = Path.of("../python/tests/reference/regressions.jsonl");
    List<String> lines =
        new RegressionCampaign(PYTHON_SEED, List.of()).lines(0, TermKind.values().length);
    if (System.getProperty("golden.update") != null) {
      Files.write(file, lines);
    }
    String more = System.getProperty("sparqr.test.lines", "");
    if (!more.isEmpty()) {
      Files.write(
          Path.of(more),
          new RegressionCampaign(SEED, List.of()).lines(0, Long.getLong(ASKED, ESTIMATES)));
    }
    assertThat(Files.readAllLines(file).stream().map(RegressionCampaignTest::question))
        .isEqualTo(lines.stream().map(RegressionCampaignTest::question).toList());
  }

  /** A line without the answers, of which the last digit is not the same everywhere. */
  private static String question(String line) {
    return line.substring(0, line.indexOf("\"none\""));
  }

  private static void run(RegressionWay way, int cases) throws IOException {
    var campaign = new RegressionCampaign(SEED, List.of(way));
    LongStream numbers =
        ONE.isEmpty()
            ? Sampling.numbers(ASKED, cases).asLongStream()
            : LongStream.of(Long.parseLong(ONE));
    RegressionTally tally = campaign.run(numbers);
    String folder = System.getProperty("sparqr.test.folder", "");
    if (!ONE.isEmpty() && !folder.isEmpty()) {
      campaign.write(Long.parseLong(ONE), Path.of(folder));
    }
    String all = "seed %d%n%s".formatted(SEED, tally);
    if (Long.getLong(ASKED) != null || !ONE.isEmpty()) {
      System.out.println(all);
    }
    assertThat(tally.disagreements()).as(all).isEmpty();
  }
}
