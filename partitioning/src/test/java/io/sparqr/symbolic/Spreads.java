/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

/** Analyses with tall fronts spread, for tests of problems that are too small for the default. */
public final class Spreads {

  private Spreads() {}

  /** Spreads every front that loses a twentieth of its work by it, however small. */
  public static SymbolicAnalysis eager(SymbolicAnalysis analysis) {
    return ReductionFronts.spread(analysis.data(), new Spread(0, 0, 0.05, Double.MAX_VALUE))
        .map(SymbolicAnalysis::new)
        .orElse(analysis);
  }

  /** Number of fronts without pivots. */
  public static int inserted(SymbolicAnalysis analysis) {
    int count = 0;
    for (int f = 0; f < analysis.fronts(); f++) {
      count += analysis.fp(f) == 0 ? 1 : 0;
    }
    return count;
  }
}
