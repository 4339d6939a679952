/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import java.io.Serializable;

/**
 * The expected speed of the factorization on its machine. AUTO weighs the time of the search for a
 * better column order against it.
 */
@FunctionalInterface
public interface FactorizationRate extends Serializable {

  /** Flops per second of a few cores, such as those of the driver. */
  double PROCESSOR = 1e11 / 3;

  /**
   * Flops per second, positive unless there are no flops.
   *
   * @param flops of the factorization under a cheap order
   * @param intensity flops per byte of its fronts
   */
  double flopsPerSecond(double flops, double intensity);

  /** {@link #PROCESSOR} for any problem. */
  static FactorizationRate processor() {
    return (flops, intensity) -> PROCESSOR;
  }
}
