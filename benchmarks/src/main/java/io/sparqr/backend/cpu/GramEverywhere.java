/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cpu;

import io.sparqr.numeric.SubtreeFactorizer;
import io.sparqr.numeric.dense.BlasLoader;

/** The CPU's way where every front is tried by its Gram matrix, whatever it costs. */
public final class GramEverywhere {

  private GramEverywhere() {}

  /** The backend. */
  public static SubtreeFactorizer create() {
    return new CpuSubtreeFactorizer(BlasLoader.kernels(), (tree, index) -> true);
  }
}
