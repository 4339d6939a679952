/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cpu;

import io.sparqr.Sampled;
import io.sparqr.numeric.SubtreeFactorizer;
import io.sparqr.numeric.SubtreeFactorizerContract;
import io.sparqr.numeric.dense.BlasLoader;

/** The contract without a native BLAS. */
@Sampled(oneIn = 3)
class CpuJavaBlasTest extends SubtreeFactorizerContract {

  @Override
  protected SubtreeFactorizer create() {
    return new CpuSubtreeFactorizer(BlasLoader.javaKernels("test"), GramRule.DEFAULT, 0);
  }
}
