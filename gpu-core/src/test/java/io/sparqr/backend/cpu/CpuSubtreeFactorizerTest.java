/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cpu;

import io.sparqr.numeric.SubtreeFactorizer;
import io.sparqr.numeric.SubtreeFactorizerContract;
import io.sparqr.numeric.dense.BlasLoader;

/** The contract on the BLAS that this machine has, small tasks with all their threads too. */
class CpuSubtreeFactorizerTest extends SubtreeFactorizerContract {

  @Override
  protected SubtreeFactorizer create() {
    return new CpuSubtreeFactorizer(BlasLoader.kernels(), GramRule.DEFAULT, 0);
  }
}
