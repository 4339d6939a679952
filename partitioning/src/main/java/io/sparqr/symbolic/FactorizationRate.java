/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import java.io.Serializable;

/**
 * How fast the factorization will be, by whoever knows what it will run on. AUTO weighs the time
 * that the search for a better column order takes with it.
 */
@FunctionalInterface
public interface FactorizationRate extends Serializable {

  /** Flops a second of a few cores, such as those that order. */
  double PROCESSOR = 1e11 / 3;

  /**
   * Flops a second, greater than 0 unless there are no flops.
   *
   * @param flops of the factorization under a cheap order
   * @param intensity flops a byte of its fronts
   */
  double flopsPerSecond(double flops, double intensity);

  /** {@link #PROCESSOR}, whatever the problem. */
  static FactorizationRate processor() {
    return (flops, intensity) -> PROCESSOR;
  }
}
