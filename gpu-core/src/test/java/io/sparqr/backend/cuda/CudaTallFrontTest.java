/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import io.sparqr.numeric.SubtreeFactorizer;
import io.sparqr.numeric.tall.TallFrontContract;
import org.junit.jupiter.api.Tag;

/** Tall matrices on a device. */
@Tag("gpu")
class CudaTallFrontTest extends TallFrontContract {

  @Override
  protected SubtreeFactorizer create() {
    return TestDevice.provider().create(0);
  }
}
