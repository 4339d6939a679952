/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cpu;

import io.sparqr.numeric.SubtreeFactorizer;
import io.sparqr.numeric.SubtreeFactorizerContract;

/** The contract on the BLAS that this machine has. */
class CpuSubtreeFactorizerTest extends SubtreeFactorizerContract {

  @Override
  protected SubtreeFactorizer create() {
    return new CpuSubtreeFactorizer();
  }
}
