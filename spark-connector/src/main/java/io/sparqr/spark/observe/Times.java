/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.observe;

import io.sparqr.spark.report.SolveReport;

/** Wall times of a solve, accumulated. */
public final class Times {
  public double pattern;
  public double order;
  public double analyze;
  public double plan;
  public double assemble;
  public double factorize;
  public double solve;
  public double total;

  /** Adds the time of a phase that failed, under the name used for listeners. */
  public void failed(String phase, double seconds) {
    switch (phase) {
      case "analyze" -> analyze += seconds;
      case "executors", "plan" -> plan += seconds;
      case "rows" -> assemble += seconds;
      case "factorize" -> factorize += seconds;
      case "solve", "check" -> solve += seconds;
      default -> pattern += seconds;
    }
  }

  public SolveReport.Seconds seconds() {
    return new SolveReport.Seconds(
        0, pattern, order, analyze, plan, assemble, factorize, solve, total);
  }
}
