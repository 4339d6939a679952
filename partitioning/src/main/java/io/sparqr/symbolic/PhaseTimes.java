/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import java.util.LinkedHashMap;
import java.util.Map;

/** Seconds of the analysis' phases, summed by name. */
final class PhaseTimes {

  private final Map<String, Double> seconds = new LinkedHashMap<>();
  private long last = System.nanoTime();

  /** Starts the next phase. */
  void start() {
    last = System.nanoTime();
  }

  /** Ends the current phase, which began with the previous call, and starts the next. */
  void end(String phase) {
    long now = System.nanoTime();
    seconds.merge(phase, (now - last) * 1e-9, Double::sum);
    last = now;
  }

  /** Seconds by phase, in order of appearance. */
  Map<String, Double> seconds() {
    return seconds;
  }
}
