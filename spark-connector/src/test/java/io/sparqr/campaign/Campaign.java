/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign;

import io.sparqr.matrix.DenseMatrix;
import io.sparqr.matrix.MatrixMarketWriter;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

/**
 * Solves many small problems with all option sets and holds the answers against exact arithmetic.
 *
 * @param seed of all problems
 * @param families in turn
 * @param options all that are tried
 * @param sparkEvery options that start Spark jobs are tried on each problem of this multiple only;
 *     0: on none
 */
record Campaign(long seed, List<Family> families, List<OptionSet> options, int sparkEvery) {

  /** Options that start Spark jobs are tried on one problem in this number. */
  static final int SPARK_EVERY = 40;

  /** Arguments: the number of solves, the seed, names of families (all by default). */
  public static void main(String[] arguments) {
    long solves = Long.parseLong(arguments[0]);
    long seed = Long.parseLong(arguments[1]);
    List<String> names = List.of(arguments).subList(2, arguments.length);
    int every = Integer.getInteger("sparqr.test.sparkEvery", SPARK_EVERY);
    long begin = System.nanoTime();
    CampaignTally tally =
        new Campaign(seed, named(names), List.of(OptionSet.values()), every).run(solves);
    System.out.printf(
        "campaign, seed %d, %.0f s%n%s", seed, (System.nanoTime() - begin) * 1e-9, tally);
  }

  /** The families of these names; all if there is none. */
  static List<Family> named(List<String> names) {
    return Family.all().stream().filter(f -> names.isEmpty() || names.contains(f.name())).toList();
  }

  /** Runs on all cores until this number of solves is reached. */
  CampaignTally run(long solves) {
    CampaignSetting setting = new CampaignSetting();
    try (setting) {
      var tally = new CampaignTally();
      var next = new AtomicLong();
      IntStream.range(0, Runtime.getRuntime().availableProcessors())
          .parallel()
          .forEach(
              worker -> {
                while (tally.solves() < solves) {
                  run(next.getAndIncrement(), tally);
                }
              });
      return tally;
    }
  }

  /** Solves the problems of these numbers with all options, on all cores. */
  CampaignTally run(int[] numbers) {
    CampaignSetting setting = new CampaignSetting();
    try (setting) {
      var tally = new CampaignTally();
      Arrays.stream(numbers).parallel().forEach(number -> run(number, tally));
      return tally;
    }
  }

  private void run(long number, CampaignTally tally) {
    Family family = families.get((int) (number % families.size()));
    CampaignProblem problem = CampaignProblem.draw(family, seed, number / families.size());
    var checks = new AnswerChecks(problem);
    tally.problem(problem);
    for (OptionSet o : options) {
      if (!o.onSpark() || sparkEvery > 0 && number % sparkEvery == 0) {
        long begin = System.nanoTime();
        int count = checks.run(o);
        tally.solves(problem, o, count, System.nanoTime() - begin);
      }
    }
    tally.findings(problem, checks.oracle(), checks.findings());
  }

  /** Runs one problem, writes it to a folder as A.mtx and b.mtx if that is not empty. */
  CampaignTally one(String name, String folder) throws IOException {
    String[] part = name.split(":");
    Family family =
        Family.all().stream().filter(f -> f.name().equals(part[0])).findFirst().orElseThrow();
    CampaignProblem problem = CampaignProblem.draw(family, seed, Long.parseLong(part[1]));
    if (!folder.isEmpty()) {
      MatrixMarketWriter.writeCoordinate(Path.of(folder, "A.mtx"), problem.a());
      MatrixMarketWriter.writeArray(
          Path.of(folder, "b.mtx"), DenseMatrix.ofColumns(problem.a().rows(), problem.b()));
    }
    var only = new Campaign(seed, List.of(family), options, 1);
    var tally = new CampaignTally();
    CampaignSetting setting = new CampaignSetting();
    try (setting) {
      only.run(Long.parseLong(part[1]), tally);
    }
    return tally;
  }
}
