/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import java.util.LinkedHashMap;
import java.util.Map;

/** Seconds of the analysis' phases, summed by name. */
final class PhaseTimes {

  private final Map<String, Double> seconds = new LinkedHashMap<>();
  private long last = System.nanoTime();

  /** The next phase begins now. */
  void start() {
    last = System.nanoTime();
  }

  /** The phase that began with the last call ends; the next begins. */
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
