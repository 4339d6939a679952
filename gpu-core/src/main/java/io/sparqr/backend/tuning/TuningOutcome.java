/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.tuning;

import io.sparqr.symbolic.Tuning;
import java.util.List;
import java.util.Map;

/**
 * What a search has found.
 *
 * @param tuning the one to be used; the constants if nothing is clearly faster
 * @param steps what was tried, in this order
 * @param tables Gflop/s by height of a bundle and width of Apply
 * @param pipelining time with pipelining by that without, for each workload
 * @param ratios the tuning's time by that of the constants; empty if these stay
 * @param ended whether the time sufficed for all that was to be tried
 */
public record TuningOutcome(
    Tuning tuning,
    List<Step> steps,
    List<Table> tables,
    Map<Workload, Double> pipelining,
    Map<Workload, Double> ratios,
    boolean ended) {

  /**
   * One thing that was varied.
   *
   * @param axis in words
   * @param value the best one found beside the one that was there; empty: there was no time
   * @param ratio its time by that of what was there, the mean of the workloads
   * @param accepted whether it is used
   */
  public record Step(String axis, String value, double ratio, boolean accepted) {}

  /**
   * A workload's Gflop/s.
   *
   * @param workload in words
   * @param heights row tiles of a bundle
   * @param widths most column tiles of an Apply task
   * @param gflops by height, then by width; NaN: there was no time
   */
  public record Table(String workload, int[] heights, int[] widths, double[][] gflops) {}

  /** As lines for a terminal. */
  public String toText() {
    return TuningText.of(this);
  }
}
