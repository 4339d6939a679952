/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.internal;

import io.sparqr.spark.SolveReport;

/** Wall times of a solve, accumulated. */
final class Times {
  double pattern;
  double order;
  double analyze;
  double plan;
  double assemble;
  double factorize;
  double solve;
  double total;

  /** Adds the time of a phase that failed, under the name used for listeners. */
  void failed(String phase, double seconds) {
    switch (phase) {
      case "analyze" -> analyze += seconds;
      case "executors", "plan" -> plan += seconds;
      case "rows" -> assemble += seconds;
      case "factorize" -> factorize += seconds;
      case "solve", "check" -> solve += seconds;
      default -> pattern += seconds;
    }
  }

  SolveReport.Seconds seconds() {
    return new SolveReport.Seconds(
        0, pattern, order, analyze, plan, assemble, factorize, solve, total);
  }
}
