/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import java.io.Serializable;

/**
 * The expected speed of the factorization on its machine, and what the machine cannot hold. AUTO
 * weighs the time of the search for a better column order against the speed.
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

  /**
   * Told of every order whose cost AUTO or BEST has counted, before another is tried. One that
   * throws ends the analysis; by default nothing does.
   *
   * @param flops of the factorization under this order
   * @param entriesOfR at full rank
   * @param fullness entries of R over those of a full triangle, from 0 to 1
   * @param rows of the front with the most bytes, as {@link FrontMemory#certainRows} counts them
   * @param columns of that front
   * @throws io.sparqr.error.InsufficientMemoryException if the machine cannot hold it
   */
  default void counted(double flops, double entriesOfR, double fullness, long rows, long columns) {}

  /** {@link #PROCESSOR} for any problem. */
  static FactorizationRate processor() {
    return (flops, intensity) -> PROCESSOR;
  }
}
