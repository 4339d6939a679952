/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import io.sparqr.numeric.SubtreeFactorizer;
import io.sparqr.numeric.SubtreeFactorizerContract;
import org.junit.jupiter.api.Tag;

@Tag("gpu")
class CudaSubtreeFactorizerTest extends SubtreeFactorizerContract {

  @Override
  protected boolean solves() {
    return true;
  }

  @Override
  protected SubtreeFactorizer create() {
    return TestDevice.provider().create(0);
  }
}
