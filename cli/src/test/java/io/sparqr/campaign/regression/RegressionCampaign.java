/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign.regression;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.LongStream;

/**
 * Random regressions, each solved in several ways and held against the {@link Oracle}.
 *
 * @param seed of all cases
 * @param ways by which each is solved
 */
record RegressionCampaign(long seed, List<RegressionWay> ways) {

  /** Solves cases first to last - 1. */
  RegressionTally run(long first, long last) {
    return run(LongStream.range(first, last));
  }

  /** Solves the cases of these numbers. */
  RegressionTally run(LongStream numbers) {
    var tally = new RegressionTally();
    for (long number : numbers.toArray()) {
      RegressionCase c = CaseGenerator.draw(seed, number);
      Expected right = Oracle.of(c, false);
      for (RegressionWay way : ways) {
        if (way.can(c)) {
          tally.add(c, way.name(), new Comparison(right, way.solve(c)));
        }
      }
    }
    return tally;
  }

  /** Cases first to last - 1 for Python, one a line. */
  List<String> lines(long first, long last) {
    return LongStream.range(first, last)
        .mapToObj(number -> CaseGenerator.draw(seed, number))
        .filter(CaseFiles::can)
        .map(CaseFiles::line)
        .toList();
  }

  /** Writes the data of a case to a folder, as case.csv. */
  void write(long number, Path folder) throws IOException {
    Files.createDirectories(folder);
    Files.writeString(folder.resolve("case.csv"), CaseGenerator.draw(seed, number).sheet().csv());
  }
}
