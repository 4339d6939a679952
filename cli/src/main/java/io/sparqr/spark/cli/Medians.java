/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import io.sparqr.spark.report.SolveReport.Seconds;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** The median over several runs of each time. */
final class Medians {

  private Medians() {}

  static Seconds of(List<Seconds> runs) {
    return new Seconds(
        median(runs, Seconds::read),
        median(runs, Seconds::pattern),
        median(runs, Seconds::order),
        median(runs, Seconds::analyze),
        median(runs, Seconds::plan),
        median(runs, Seconds::assemble),
        median(runs, Seconds::factorize),
        median(runs, Seconds::solve),
        median(runs, Seconds::total));
  }

  private static double median(List<Seconds> runs, ToDoubleFunction<Seconds> part) {
    double[] sorted = runs.stream().mapToDouble(part).sorted().toArray();
    int half = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  }
}
