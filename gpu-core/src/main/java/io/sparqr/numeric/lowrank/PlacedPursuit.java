/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.lowrank;

import java.util.Optional;
import java.util.function.Function;

/**
 * {@link DensePursuit} with its iterations on a {@link PursuitSite}; L, S and the verdict are made
 * on the host of what the last one began with.
 */
public final class PlacedPursuit {

  private PlacedPursuit() {}

  /**
   * As {@link DensePursuit#decompose}.
   *
   * @param open makes the place of a matrix that has been looked at; closed afterwards
   * @return empty if there is no place
   */
  public static Optional<DensePursuit> decompose(
      double[][] rows,
      PursuitOptions options,
      int threads,
      Function<double[][], Optional<PursuitSite>> open) {
    return DensePursuit.decompose(rows, options, threads, open);
  }
}
