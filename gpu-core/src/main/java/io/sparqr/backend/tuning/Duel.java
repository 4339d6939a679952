/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.tuning;

import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;

/**
 * A tuning against another, measured in turns: for each workload the median of the ratios of their
 * times within a turn, so that a clock that drifts concerns both.
 *
 * @param ratios challenger's time by the other's; below 1: it is faster
 * @param wins share of the turns that the challenger was faster in
 */
record Duel(Map<Workload, Double> ratios, Map<Workload, Double> wins) {

  /** A challenger has to be so much faster, because it may be so by chance. */
  static final double GAIN = 0.03;

  /** On no workload may it be slower by more: that much is noise. */
  static final double NOISE = 0.01;

  /** Where it is faster, it has to be so in this share of the turns. */
  private static final double OFTEN = 0.75;

  /** Of the ratios measured, an array a workload. */
  static Duel of(Map<Workload, double[]> measured) {
    var ratios = new EnumMap<Workload, Double>(Workload.class);
    var wins = new EnumMap<Workload, Double>(Workload.class);
    measured.forEach(
        (workload, all) -> {
          ratios.put(workload, median(all));
          wins.put(workload, Arrays.stream(all).filter(r -> r < 1).count() / (double) all.length);
        });
    return new Duel(ratios, wins);
  }

  static double median(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    int half = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  }

  /** The geometric mean of the ratios. */
  double mean() {
    double logarithms = ratios.values().stream().mapToDouble(Math::log).sum();
    return Math.exp(logarithms / Math.max(1, ratios.size()));
  }

  /** Whether it is slower somewhere. */
  boolean harms() {
    return ratios.values().stream().anyMatch(r -> !(r <= 1 + NOISE));
  }

  /**
   * Whether it is clearly faster on some workload, in most turns, and slower on none. A tie is
   * none: what is there stays.
   */
  boolean won() {
    return !harms()
        && ratios.entrySet().stream()
            .anyMatch(e -> e.getValue() <= 1 - GAIN && often(wins.getOrDefault(e.getKey(), 0.0)));
  }

  private static boolean often(double share) {
    return share >= OFTEN;
  }
}
